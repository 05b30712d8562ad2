/** Compositions of an input method in Firefox. Those in Chromium are end-to-end tests. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { startProduct, type Product } from '../support/product.ts';
import { WAIT_LIMIT_MS } from './browser-page.ts';
import { launchComposingFirefox, type ComposingFirefox } from './marionette.ts';

const { FIREFOX_PATH } = process.env;
const ENTER = '\uE007';
const BACKSPACE = '\uE003';

describe.runIf(FIREFOX_PATH)('an input method in Firefox', () => {
  let product: Product;
  let firefox: ComposingFirefox;

  beforeAll(async () => {
    product = await startProduct();
    firefox = await launchComposingFirefox(FIREFOX_PATH!);
    await firefox.open(`${product.url}/terms-and-conditions`);
    const answer = await fetch(`${product.url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        email: `${randomUUID()}@example.com`,
        password: 'correct horse battery',
        data: { name: 'Ada' },
      }),
    });
    await firefox.evaluate(`localStorage.setItem('sb-localhost-auth-token', arguments[0])`, await answer.text());
    await firefox.open(`${product.url}/journal`);
    await until(`return document.querySelector('#root .ProseMirror') === document.activeElement`, true);
  });
  afterAll(async () => {
    await firefox.close();
    await product.stop();
  });

  const until = (body: string, value: unknown): Promise<void> =>
    vi.waitFor(async () => expect(await firefox.evaluate(body)).toEqual(value), WAIT_LIMIT_MS);
  const untilLine = (html: string): Promise<void> =>
    until(`return [...document.querySelectorAll('#root .ProseMirror li > p')].at(-1)?.innerHTML`, html);

  test('composes words, formats between signs, and keeps names and formulas', async () => {
    await firefox.press('x');
    await firefox.compose('に', 'にほ', '日本');
    await untilLine('x日本');

    await firefox.press(ENTER);
    await firefox.press('_');
    await firefox.compose('i', 'id');
    await firefox.press('_');
    await untilLine('<em>id</em>');
    await firefox.compose('t', 'tok', 'token');
    await untilLine('_id_token');

    await firefox.press(ENTER);
    await firefox.compose('**大', '**大事**');
    await untilLine('<strong>大事</strong>');
    await firefox.press(BACKSPACE);
    await untilLine('**大事**');

    await firefox.press(ENTER);
    for (const key of '2 * ') await firefox.press(key);
    await firefox.compose('三');
    for (const key of ' * 4') await firefox.press(key);
    await untilLine('2 * 三 * 4');
  });
});
