/** Changes made elsewhere appear on an open page, over one connection of the browser. */
import type { BrowserContext, Page, Request } from '@playwright/test';
import { expectFetched, expect, skipToIdleTime, test } from '../support/test.ts';
import { editor, expectSaved, items, log, openDay, sessionOf, setHidden, storeLog, today } from '../support/journal.ts';

test.use({ isIdle: true });
test.beforeEach(({ context }) => context.clock.install());

// Without a stream a page polls after 30 seconds, which is longer than the tests wait.
const STREAM = /\/functions\/v1\/changes$/;

/** The streams that the pages of a browser have opened and not closed yet. */
function countStreams(context: BrowserContext): { opened: () => number; open: () => number } {
  let opened = 0;
  let closed = 0;
  context.on('request', (request) => (opened += Number(STREAM.test(request.url()))));
  const onEnd = (request: Request): void => void (closed += Number(STREAM.test(request.url())));
  context.on('requestfinished', onEnd);
  context.on('requestfailed', onEnd);
  return { opened: () => opened, open: () => opened - closed };
}

async function connect(page: Page): Promise<void> {
  const connected = page.waitForResponse(STREAM);
  await skipToIdleTime(page);
  await connected;
}

test('a change of another device appears by itself, and the caret stays', async ({ page, signUp }) => {
  await signUp(page);
  await connect(page);
  await editor(page).click();
  await page.keyboard.type('first line');
  await expectSaved(page);

  const session = await sessionOf(page);
  const reads: string[] = [];
  page.on('request', (request) => void (request.method() === 'GET' && reads.push(request.url())));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await storeLog(page.request, session, today(), log('first line', 'from the phone'));
  await expect(items(page)).toHaveText(['first line', 'from the phone']);
  await page.keyboard.type('X');
  await expect(items(page).first()).toHaveText('fXirst line');
  await expect(editor(page)).toBeFocused();

  // The event of the page's own save makes the page read nothing.
  reads.length = 0;
  await expectSaved(page);
  // A later change of another device proves that the event of the own save has arrived before it.
  await storeLog(page.request, session, today(), log('fXirst line', 'from the phone', 'again'));
  await expect(items(page)).toHaveText(['fXirst line', 'from the phone', 'again']);
  expect(reads.filter((url) => url.includes(`date=eq.${today()}`))).toHaveLength(1);
});

test('two tabs share one connection, and a hidden or signed-out browser has none', async ({
  page,
  context,
  signUp,
}) => {
  const streams = countStreams(context);
  await signUp(page);
  await connect(page);
  const second = await context.newPage();
  await openDay(second, today());
  await skipToIdleTime(second);
  await expectFetched(second, ['members-background']);

  await storeLog(page.request, await sessionOf(page), today(), log('for both tabs'));
  for (const tab of [page, second]) await expect(items(tab)).toHaveText(['for both tabs']);
  expect(streams.opened()).toBe(1);

  // The other tab takes over when this one is hidden.
  await setHidden(page, true);
  await expect.poll(() => [streams.opened(), streams.open()]).toEqual([2, 1]);
  await setHidden(second, true);
  await expect.poll(() => streams.open()).toBe(0);

  await storeLog(page.request, await sessionOf(page), today(), log('while nobody looked'));
  await setHidden(page, false);
  await expect(items(page)).toHaveText(['while nobody looked']);
  await expect.poll(() => streams.open()).toBe(1);

  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page).toHaveURL(/\/$/);
  await expect.poll(() => streams.open()).toBe(0);
});

test('behind a proxy that buffers the stream, the page polls', async ({ page, signUp }) => {
  // A response that never begins, as from a proxy that waits for its end.
  await page.route(STREAM, () => undefined);
  await signUp(page);
  const asked = page.waitForRequest(STREAM);
  await skipToIdleTime(page);
  await asked;
  await storeLog(page.request, await sessionOf(page), today(), log('found by asking'));
  // After six seconds without a byte the page polls.
  await page.clock.fastForward(6_000);
  await expect(items(page)).toHaveText(['found by asking']);
});
