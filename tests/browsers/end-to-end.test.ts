/** End-to-end tests in engines other than Chromium; `scripts/test-browsers.ts` finds the engines. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dayLabel, dayOf } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { startProduct, type Product } from '../support/product.ts';
import { type BrowserPage, type EngineBrowser, WAIT_LIMIT_MS } from './browser-page.ts';
import { launchFirefox } from './firefox.ts';
import { launchWebKit } from './webkit.ts';

const PASSWORD = 'correct horse battery';
const { FIREFOX_PATH, WEBKIT_DRIVER_PATH, WEBKIT_BROWSER_PATH, XVFB_PATH } = process.env;

const engines: [string, () => Promise<EngineBrowser>][] = [];
if (FIREFOX_PATH) engines.push(['Firefox', () => launchFirefox(FIREFOX_PATH)]);
if (WEBKIT_DRIVER_PATH && WEBKIT_BROWSER_PATH && XVFB_PATH) {
  const programs = { driver: WEBKIT_DRIVER_PATH, browser: WEBKIT_BROWSER_PATH, display: XVFB_PATH };
  engines.push(['WebKit', () => launchWebKit(programs)]);
}

/**
 * The XPath of a visible button by its name. A button that can be busy holds a second label, so one `span` may be the
 * name. The hidden submit button of a form may have the same name.
 */
const button = (name: string): string =>
  `//button[not(@hidden)][@aria-label='${name}' or normalize-space()='${name}' or .//span[normalize-space()='${name}']]`;
const field = (name: string): string => `//label[normalize-space()='${name}']/following::input[1]`;

let product: Product;
let url = '';

beforeAll(async () => {
  product = await startProduct();
  ({ url } = product);
});
afterAll(() => product.stop());

describe.each(engines)('%s', (_name, launch) => {
  let browser: EngineBrowser;
  let page: BrowserPage;

  beforeAll(async () => {
    browser = await launch();
    ({ page } = browser);
    process.stdout.write(`${browser.version}\n`);
  });
  afterAll(() => browser.close());

  test('signs up, writes, reloads, and opens every screen without an error', async () => {
    await page.resize(1200, 800);
    await page.open(`${url}/signup`);
    // Before, a form without React takes the keys, and React replaces its fields.
    await until(page, () => document.querySelector('#page-frame') === null);
    await page.click(field('Full name'));
    await page.type('Ada Smith');
    await page.click(field('Email address'));
    await page.type(`${randomUUID()}@example.com`);
    await page.click(field('Password'));
    await page.type(PASSWORD);
    await page.click("//input[@type='checkbox']");
    await page.click(button('Create account'));
    await untilEditable(page);
    await page.type('Shipped the release\nReviewed two patches');
    await untilText(page, '[role=status]', /Saved \d\d?:\d\d/);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    expect(await items(page)).toEqual(['Shipped the release', 'Reviewed two patches']);

    await page.click(button('Previous day'));
    await page.click("//button[contains(., 'Had a lazy day')]");
    await untilText(page, '[role=status]', /Currently selected: Had a lazy day/);
    await page.click('//h1//button');
    await untilText(page, 'dialog[open]', /Select Date/);
    await until(page, () =>
      [...document.querySelectorAll('dialog[open] button')].some((day) =>
        /today, has entry/.test(day.getAttribute('aria-label') ?? ''),
      ),
    );
    for (const [path, heading] of [
      ['/reviews', /Hustle Reviews/],
      ['/settings', /Settings/],
      ['/profile', /Profile/],
    ] as const) {
      await page.open(url + path);
      await untilText(page, 'h1', heading);
      expect(await page.errors(), `errors on ${path}`).toEqual([]);
    }
  });

  test('keeps the line being typed in sight on a phone with its keyboard open', async () => {
    await signUp(page);
    await page.resize(390, 470);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    for (let item = 1; item <= 20; item += 1) {
      await page.type(`Item ${item} of a long day\n`);
      await until(page, isCaretInSight);
    }
    expect(await items(page)).toHaveLength(21);
  });

  test('pastes formatted text without its styles, and takes it back with one undo', async () => {
    await signUp(page);
    await page.resize(1200, 800);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    await page.type('Before');
    await untilText(page, '[role=status]', /Saved \d\d?:\d\d/);
    await page.evaluate(() => {
      const source = document.createElement('div');
      source.id = 'source';
      source.innerHTML = '<p><b>bold</b> and <a href="https://example.com">link</a></p>';
      document.body.append(source);
      getSelection()!.selectAllChildren(source);
    });
    await page.press('c', 'Control');
    await page.evaluate(() => {
      document.querySelector('#source')!.remove();
      const editor = document.querySelector<HTMLElement>('.ProseMirror')!;
      editor.focus();
      getSelection()!.selectAllChildren(editor);
      getSelection()!.collapseToEnd();
    });
    await page.press('v', 'Control');
    await until(page, () => document.querySelector('.ProseMirror strong')?.textContent === 'bold');
    expect(await page.evaluate(() => document.querySelectorAll('.ProseMirror [style]').length)).toBe(0);
    const link = await page.evaluate(() => document.querySelector('.ProseMirror a')?.textContent);
    expect(link).toMatch(/^https:\/\/example\.com\/?$/);
    await page.press('z', 'Control');
    await until(page, () => document.querySelector('.ProseMirror strong') === null);
    expect(await items(page)).toEqual(['Before']);
  });

  test('converts typed Markdown but no formula, name or glob, and gives it back with Backspace', async () => {
    await signUp(page);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    await page.type('2 * 3 * 4\ncall __init__ now\nrm *.log *.tmp\n_id_token and *it*\n**bold**');
    await until(page, () => document.querySelector('.ProseMirror strong')?.textContent === 'bold');
    await page.press('Backspace');
    const typed = ['2 * 3 * 4', 'call __init__ now', 'rm *.log *.tmp', '_id_token and it', '**bold**'];
    await vi.waitFor(async () => expect(await items(page)).toEqual(typed), WAIT_LIMIT_MS);
    expect(await page.evaluate(() => document.querySelector('.ProseMirror em')?.textContent)).toBe('it');
  });

  test('prints the day and its text, and nothing that is for the screen', async () => {
    await signUp(page);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    await page.type('On paper');
    await untilText(page, '[role=status]', /Saved \d\d?:\d\d/);
    const printed = await page.evaluate(() => {
      // Applies the print rules to the screen, because `BrowserPage` cannot print.
      for (const sheet of document.styleSheets) {
        for (const rule of sheet.cssRules) {
          if (rule instanceof CSSMediaRule && rule.media.mediaText === 'print') rule.media.mediaText = 'all';
        }
      }
      return document.body.innerText;
    });
    expect(printed).toContain(dayLabel(dayOf(new Date())));
    expect(printed).toContain('On paper');
    expect(printed).not.toMatch(/Saved \d\d?:\d\d/);
    expect(await page.evaluate(() => document.querySelector('[aria-label="Open menu"]')?.checkVisibility())).toBe(
      false,
    );
  });

  test('two tabs that wrote on the same day lose neither version', async () => {
    await signUp(page);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    const second = await page.newTab();
    await second.open(`${url}/journal`);
    await untilEditable(second);
    await page.type('From the first tab');
    await untilText(page, '[role=status]', /Saved \d\d?:\d\d/);
    await second.type('From the second tab');
    await untilText(second, '.ProseMirror', /From the second tab/);
    await untilText(second, '[role=status]', /Saved \d\d?:\d\d/);
    await page.open(`${url}/journal`);
    await untilEditable(page);
    await untilText(page, '.ProseMirror', /From the second tab/);
    const text = (await items(page)).join(' ');
    expect(text).toContain('From the first tab');
    expect(text).toContain('From the second tab');
  });
});

/** Makes an account through the API and stores its session, so that the next page opens signed in. */
async function signUp(page: BrowserPage): Promise<void> {
  await page.open(`${url}/terms-and-conditions`);
  const answer = await fetch(`${url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${randomUUID()}@example.com`, password: PASSWORD, data: { name: 'Ada Smith' } }),
  });
  expect(answer.status).toBe(200);
  const session = await answer.text();
  await page.evaluate((text) => {
    localStorage.clear();
    localStorage.setItem('sb-localhost-auth-token', text);
  }, session);
}

/**
 * Waits until React shows the journal. Before, an early page without React shows the day, and React replaces its
 * buttons while the driver clicks them.
 */
async function untilEditable(page: BrowserPage): Promise<void> {
  await until(page, () => {
    const editor = document.querySelector<HTMLElement>('#root .ProseMirror[contenteditable=true]');
    return editor !== null && document.activeElement === editor;
  });
}

const untilText = (page: BrowserPage, selector: string, text: RegExp): Promise<void> =>
  until(
    page,
    (where, pattern) =>
      [...document.querySelectorAll<HTMLElement>(where)].some((found) => new RegExp(pattern).test(found.innerText)),
    selector,
    text.source,
  );

const items = (page: BrowserPage): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.ProseMirror[contenteditable=true] li')].map((item) => item.textContent ?? ''),
  );

/** Runs in the page. Tells whether the caret's block lies inside the window and above every visible toolbar. */
function isCaretInSight(): boolean {
  const selection = getSelection();
  const block = selection?.anchorNode instanceof Element ? selection.anchorNode : selection?.anchorNode?.parentElement;
  if (!block) return false;
  const line = block.getBoundingClientRect();
  const covering = [...document.querySelectorAll('[role=toolbar]')].filter((bar) => bar.checkVisibility());
  const lowest = Math.min(innerHeight, ...covering.map((bar) => bar.getBoundingClientRect().top));
  return line.top >= 0 && line.bottom <= lowest;
}

async function until<Args extends unknown[]>(
  page: BrowserPage,
  isTrue: (...args: Args) => boolean,
  ...args: Args
): Promise<void> {
  await vi.waitFor(async () => expect(await page.evaluate(isTrue, ...args), isTrue.toString()).toBe(true), {
    timeout: WAIT_LIMIT_MS,
    interval: 100,
  });
}
