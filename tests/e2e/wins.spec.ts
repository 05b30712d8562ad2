/** Wins documents (docs/specification/wins.md): from a year of logs to a page that is handed in. */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { addDays, type Day } from '#domain/day/day.ts';
import { MESSAGES } from '#domain/messages.ts';
import { log, today } from './support/journal.ts';
import { test } from './support/coach.ts';
import { expect, expectNoHorizontalScroll, expectToast, inBothThemes } from './support/test.ts';
import { openSections } from './support/settings.ts';

const LOGS = (): Record<Day, string> => ({
  [addDays(today(), -2)]: log('Read mail', 'Shipped the billing migration'),
  [addDays(today(), -1)]: log('Closed the audit', 'Wrote <b>docs</b>'),
});

const lines = (page: Page) => page.getByRole('region', { name: 'Document' }).getByRole('textbox');
const textsOf = (page: Page) =>
  lines(page).evaluateAll((fields) => fields.map((field) => (field as HTMLTextAreaElement).value));
const saved = (page: Page) => expect(page.getByRole('status').filter({ hasText: /^Saved$/ })).toBeVisible();

/** How many requests the page sends from now on. */
function countRequests(page: Page, method: string, path: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === method && request.url().includes(path)) count += 1;
  });
  return () => count;
}

/** Opens a new document of the two days. */
async function collect(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Own dates' }).check();
  await page.getByLabel('First day').fill(addDays(today(), -5));
  await page.getByLabel('Last day').fill(today());
  await page.getByRole('button', { name: 'Collect my wins' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Wins /);
  await saved(page);
}

test('a document is made of the wins of a period, ordered by keys, reworded, and stays after a reload', async ({
  page,
  signUp,
}) => {
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await collect(page);
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect
    .poll(() => textsOf(page))
    .toEqual(expect.arrayContaining(['Shipped the billing migration', 'Closed the audit']));

  await page.getByLabel('Title').fill('My best days');
  const closed = lines(page).filter({ hasText: 'Closed the audit' });
  await closed.fill('Closed the audit without findings');
  const before = await textsOf(page);
  const index = before.indexOf('Closed the audit without findings');
  await lines(page).nth(index).press('Alt+ArrowUp');
  await expect
    .poll(() => textsOf(page))
    .toEqual(before.with(index, before[index - 1]!).with(index - 1, before[index]!));
  await expect(lines(page).nth(index - 1)).toBeFocused();
  await saved(page);
  const after = await textsOf(page);
  await page.reload();
  await expect(page.getByLabel('Title')).toHaveValue('My best days');
  await expect.poll(() => textsOf(page)).toEqual(after);

  // The log stays as it is.
  await page
    .getByRole('link', { name: /^Log of/ })
    .first()
    .click();
  await expect(page.locator('.ProseMirror')).toContainText(/Shipped the billing migration|Closed the audit/);
});

test('a line is picked, dragged, and every removal is taken back', async ({ page, signUp }) => {
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await collect(page);
  const start = await textsOf(page);
  await page.getByLabel('Find a line').fill('read mail');
  await page.getByRole('checkbox', { name: 'Read mail' }).check();
  await expect.poll(async () => (await textsOf(page)).length).toBe(start.length + 1);

  const shipped = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: 'Remove this line' }) })
    .first();
  const removed = await shipped.getByRole('textbox').inputValue();
  await shipped.getByRole('button', { name: 'Remove this line' }).click();
  await expect.poll(() => textsOf(page)).not.toContain(removed);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textsOf(page)).toContain(removed);

  await page.getByRole('checkbox', { name: 'Read mail' }).uncheck();
  await expect.poll(() => textsOf(page)).not.toContain('Read mail');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textsOf(page)).toContain('Read mail');

  const rows = page.getByRole('region', { name: 'Document' }).getByRole('listitem');
  const order = await textsOf(page);
  await rows
    .last()
    .getByTitle(/^Drag to move/)
    .dragTo(rows.first(), { targetPosition: { x: 40, y: 2 } });
  await expect.poll(() => textsOf(page)).toEqual([order.at(-1), ...order.slice(0, -1)]);
  await saved(page);

  await page.getByRole('link', { name: 'All documents' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Wins', exact: true })).toBeFocused();
  const deletions = countRequests(page, 'DELETE', '/rest/v1/documents');
  await page.getByRole('button', { name: /^Delete Wins/ }).dblclick();
  await expect(page.getByRole('list', { name: 'Documents' })).toHaveCount(0);
  expect(deletions()).toBe(1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('list', { name: 'Documents' }).getByRole('link').click();
  await expect.poll(() => textsOf(page)).toEqual([order.at(-1), ...order.slice(0, -1)]);
});

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 620 } });

  test('taps on one place move one line up or down the document', async ({ page, signUp }) => {
    const texts = Array.from({ length: 30 }, (_, index) => `Shipped part ${index}`);
    await signUp(page, { isCloser: true, logs: { [today()]: log(...texts) }, path: '/wins' });
    await collect(page);
    await page.getByRole('button', { name: 'Pick lines' }).tap();
    await page.getByLabel('Find a line').fill('Shipped');
    await expect(page.getByRole('checkbox')).toHaveCount(30);
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: /^Document/ }).tap();
    await expect(lines(page)).toHaveCount(30);
    const order = await textsOf(page);
    for (const [name, index] of [
      ['Move down', 18],
      ['Move up', 14],
    ] as const) {
      const from = (await textsOf(page)).indexOf(order[15]!);
      const button = page.getByRole('listitem').nth(from).getByRole('button', { name });
      await button.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await button.boundingBox())!;
      for (let tap = from; tap !== index; tap += Math.sign(index - from)) {
        await page.touchscreen.tap(x + width / 2, y + height / 2);
        await expect(page.getByText(`Line ${tap + Math.sign(index - from) + 1} of 30.`)).toBeAttached();
      }
      await expect.poll(async () => (await textsOf(page))[index]).toBe(order[15]);
    }
    // A text with the focus would open the keyboard.
    await page.getByRole('button', { name: 'Remove this line' }).nth(14).tap();
    await expect(lines(page)).toHaveCount(29);
    await expect(page.getByRole('button', { name: 'Remove this line' }).nth(14)).toBeFocused();
  });
});

test('two tabs never overwrite each other', async ({ page, context, signUp, watchPage }) => {
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await collect(page);
  const other = await context.newPage();
  await watchPage(other);
  await other.goto(page.url());
  await other.getByLabel('Title').fill('From the other tab');
  await saved(other);
  // Without the event of a return: both tabs write at once.
  await page.getByLabel('Title').fill('From this tab');
  await expect(page.getByText('Nothing was overwritten.')).toBeVisible();
  await other.reload();
  await expect(other.getByLabel('Title')).toHaveValue('From the other tab');
  await page.getByRole('button', { name: 'Keep this version' }).click();
  await saved(page);
  await other.reload();
  await expect(other.getByLabel('Title')).toHaveValue('From this tab');
});

test.describe('without a connection', () => {
  test.use({ expectedErrors: /Failed to load resource|ERR_(INTERNET_DISCONNECTED|FAILED)/ });

  test('words are kept in the browser and sent when it is back, also after a reload', async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
    await collect(page);
    await context.setOffline(true);
    await page.getByLabel('Title').fill('Written on a train');
    await expect(page.getByText('Not saved yet. Kept in this browser')).toBeVisible();
    await context.setOffline(false);
    await page.reload();
    await expect(page.getByLabel('Title')).toHaveValue('Written on a train');
    await saved(page);
  });

  test('sign-out asks about a document that is not saved', async ({ page, context, signUp, expectAccessible }) => {
    await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
    await collect(page);
    await context.route('**/rest/v1/documents*', (route) => route.abort());
    await page.getByLabel('Title').fill('Written on a train');
    await expect(page.getByText('Not saved yet. Kept in this browser')).toBeVisible();
    await page.goto('/journal');
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: 'Logout' }).click();
    const question = page.getByRole('dialog', { name: 'You have unsaved text' });
    await expect(question).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await context.unroute('**/rest/v1/documents*');
    await question.getByRole('link', { name: 'Wins document' }).click();
    await expect(page.getByLabel('Title')).toHaveValue('Written on a train');
    await saved(page);
    await page.goto('/journal');
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: 'Logout' }).click();
    await expect(page).toHaveURL('/');
  });

  test('a document that is not saved waits for its user while another one uses the browser', async ({
    page,
    context,
    accounts,
    openAs,
    expectAccessible,
  }) => {
    const writer = await accounts.create();
    for (const [date, html] of Object.entries(LOGS())) await accounts.writeLog(writer, date as Day, html);
    await accounts.upgrade(writer);
    await openAs(page, writer, '/wins');
    await collect(page);
    await context.route('**/rest/v1/documents*', (route) => route.abort());
    await page.getByLabel('Title').fill('Written on a train');
    await expect(page.getByText('Not saved yet. Kept in this browser')).toBeVisible();
    const address = page.url();

    await openAs(page, await accounts.create());
    const notice = page.getByRole('dialog', { name: 'Unsent text from another account' });
    await expect(notice.getByRole('listitem')).toHaveText(['Wins document']);
    await inBothThemes(page, expectAccessible);
    await notice.getByRole('button', { name: 'Keep it for now' }).click();
    await context.unroute('**/rest/v1/documents*');

    await openAs(page, writer, address);
    await expect(page.getByLabel('Title')).toHaveValue('Written on a train');
    await saved(page);
  });
});

test('a document is copied, saved as Word and Markdown, and printed without the app', async ({
  page,
  context,
  signUp,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await collect(page);
  await page.getByRole('button', { name: 'Copy Markdown' }).click();
  await expectToast(page, 'Copied as Markdown.');
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  expect(markdown).toMatch(/^# Wins .*\n\nAda Smith/);
  expect(markdown).toMatch(/- Shipped the billing migration \(\w{3} \d+\)/);

  const [text] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Markdown file' }).click(),
  ]);
  expect(text.suggestedFilename()).toMatch(/\.md$/);
  expect(await readFile(await text.path(), 'utf8')).toBe(markdown);

  const [word] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Word' }).click()]);
  expect(word.suggestedFilename()).toMatch(/\.docx$/);
  expect((await readFile(await word.path())).subarray(0, 2).toString()).toBe('PK');

  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden();
  await expect(page.getByRole('article')).toBeVisible();
  await expect(page.getByRole('article')).toContainText('Shipped the billing migration');
});

test('a link shows the document to anybody until it is ended in Settings', async ({
  page,
  browser,
  baseURL,
  signUp,
}) => {
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await collect(page);
  await page.getByRole('button', { name: 'Link' }).click();
  await page.getByRole('radio', { name: '7 days' }).check();
  await page.getByRole('button', { name: 'Make a link' }).click();
  const url = await page.getByRole('textbox', { name: 'The link' }).inputValue();
  expect(url).toMatch(/\/s\/[\w-]{43}$/);

  const guest = await browser.newContext({ baseURL: baseURL! });
  const reader = await guest.newPage();
  await reader.goto(url);
  await expect(reader.getByText('Shipped the billing migration')).toBeVisible();
  expect(await reader.content()).not.toContain('<script');

  await page.goto('/settings');
  await openSections(page, 'Links');
  await page.getByRole('button', { name: /^End the link to Wins/ }).click();
  await expect(page.getByText('No links.')).toBeFocused();
  const ended = await reader.request.get(url);
  expect(ended.status()).toBe(404);
  await guest.close();
});

test('a kept review is shown by a link, which "Renew" replaces', async ({ page, request, signUp }) => {
  await signUp(page, {
    isCloser: true,
    logs: { [today()]: log('Shipped the billing migration before noon') },
    path: '/reviews',
  });
  await page.getByRole('button', { name: 'I agree' }).click();
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const kept = page.getByRole('region', { name: 'Kept reviews' });
  await kept.locator('summary').first().click();
  await kept.getByRole('button', { name: 'Link' }).click();
  await page.getByRole('button', { name: 'Make a link' }).click();
  const first = await page.getByRole('textbox', { name: 'The link' }).inputValue();
  expect(await (await request.get(first)).text()).toContain('<h1>Review</h1>');

  await page.getByRole('button', { name: /^Renew the link to Review/ }).dblclick();
  await expect(page.getByRole('textbox', { name: 'The link' })).not.toHaveValue(first);
  const second = await page.getByRole('textbox', { name: 'The link' }).inputValue();
  expect((await request.get(first)).status()).toBe(404);
  expect((await request.get(second)).status()).toBe(200);
  await expect(page.getByRole('list', { name: 'Links that work' }).getByRole('listitem')).toHaveCount(1);
});

test.describe('with a server that fails', () => {
  test.use({ expectedErrors: /status of 502/ });

  test('an address stays if "Renew" fails, and goes with its link', async ({ page, signUp }) => {
    await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
    await collect(page);
    await page.getByRole('button', { name: 'Link' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    const address = page.getByRole('textbox', { name: 'The link' });
    await expect(address).toBeFocused();
    const url = await address.inputValue();

    for (const body of ['<p>Bad gateway', '{"message":"Bad gateway"}', '{"error":{"message":"Bad gateway"}}']) {
      await page.route('**/functions/v1/create-link', (route) => route.fulfill({ status: 502, body }));
      await page.getByRole('button', { name: /^Renew the link to Wins/ }).click();
      await expect(page.getByRole('dialog').getByText(MESSAGES.unexpected)).toBeVisible();
      await expect(address).toHaveValue(url);
    }

    await page.getByRole('button', { name: /^End the link to Wins/ }).click();
    await expect(address).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Make a link' })).toBeFocused();
  });
});

test('a Dabbler sees the offer, and what was written as a Closer', async ({ page, signUp }) => {
  await signUp(page, { path: '/wins' });
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Collect my wins' })).toHaveCount(0);
});

test('the pages are accessible in both themes and fit a phone', async ({ page, signUp, expectAccessible }) => {
  await signUp(page, { isCloser: true, logs: LOGS(), path: '/wins' });
  await expect(page.getByRole('button', { name: 'Collect my wins' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await collect(page);
  await page.getByLabel('Find a line').fill('docs');
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Link' }).click();
  await page.getByRole('button', { name: 'Make a link' }).click();
  await expect(page.getByRole('textbox', { name: 'The link' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.keyboard.press('Escape');
  await expectNoHorizontalScroll(page);
});
