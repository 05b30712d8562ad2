/** Saving a day: only edits are sent, no word is lost, and every failure is shown. */
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  sessionOf,
  setHidden,
  skipToRetry,
  skipToSave,
  status,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expect, inBothThemes, test } from '../support/test.ts';
import type { Request } from '@playwright/test';

const isWrite = (request: Request): boolean => request.url().includes('/rest/v1/') && request.method() !== 'GET';

test('opening days sends no write, and no request of the boot script twice', async ({ page, signUp }) => {
  const writes: string[] = [];
  page.on('request', (request) => void (isWrite(request) && writes.push(request.url())));
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/rest/v1/')) reads.push(request.url());
  });
  await signUp(page, { logs: { [today()]: log('kept') } });
  await expect(items(page)).toHaveText(['kept']);
  // The menu shows the plan and the calendar the days with logs, so the page has requested both by now.
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog', { name: 'Menu' }).getByText('Dabbler')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  await page.keyboard.press('Escape');
  // If a prefetch URL of the boot script differed from the app's URL by one letter, both URLs would be requested.
  for (const part of [`date=eq.${today()}`, 'select=date', '/profiles'])
    await expect.poll(() => reads.filter((url) => url.includes(part)), part).toHaveLength(1);
  expect(reads.toSorted()).toEqual([...new Set(reads)].toSorted());

  await editor(page).click();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['']);
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(items(page)).toHaveText(['kept']);
  // A hidden page sends what it has not saved at once, before a later request of the same page.
  await setHidden(page, true);
  await page.evaluate(async () => (await fetch('/healthz')).status);
  expect(writes).toEqual([]);
});

test('text typed within the debounce survives a change of the day and a closed tab', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('in a hurry');
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(items(page)).toHaveText(['']);
  await page.keyboard.press('Alt+ArrowRight');
  await expect(items(page)).toHaveText(['in a hurry']);
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', before the door closes');
  await page.close();
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log('in a hurry, before the door closes'));
});

test.describe('while the server cannot be reached', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('unsaved text stays on the device, is listed on other days, and is sent when the server answers', async ({
    page,
    context,
    signUp,
    request,
  }) => {
    await page.clock.install();
    await signUp(page);
    const session = await sessionOf(page);
    await page.route('**/rest/v1/**', (route) => route.abort());
    await page.keyboard.type('written into the void');
    await skipToSave(page);
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await page.keyboard.type(', and on');
    await page.unroute('**/rest/v1/**');
    await skipToRetry(page);
    await expectSaved(page);
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log('written into the void, and on'));

    await context.setOffline(true);
    await page.keyboard.type(' the train');
    await expect(status(page, 'On this device only – sending when online')).toBeVisible();
    await page.getByRole('button', { name: 'Previous day' }).click();
    const unsaved = page.getByRole('button', { name: /is not saved yet$/ });
    await expect(unsaved).toBeVisible();
    await context.setOffline(false);
    await expect(unsaved).toBeHidden();
    await page.getByRole('button', { name: 'Next day' }).click();
    await expectSaved(page);
    await expect(items(page)).toHaveText(['written into the void, and on the train']);
    await expect
      .poll(() => readStoredLog(request, session, today()))
      .toBe(log('written into the void, and on the train'));
  });

  test('a day that fails to load is not shown as empty, and loads on retry and when the browser is online', async ({
    page,
    context,
    signUp,
  }) => {
    const failed = page.getByRole('heading', { name: 'This day could not be loaded.' });
    const requestsOf = (count: number) => `**/rest/v1/entries*date=eq.${daysAgo(count)}*`;
    for (const count of [3, 4]) await page.route(requestsOf(count), (route) => route.abort());
    await signUp(page, { path: `/journal?date=${daysAgo(3)}` });
    await expect(failed).toBeVisible();
    await expect(editor(page)).toHaveCount(0);
    await page.unroute(requestsOf(3));
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(editor(page)).toBeVisible();

    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(failed).toBeVisible();
    await context.setOffline(true);
    await page.unroute(requestsOf(4));
    await context.setOffline(false);
    await expect(editor(page)).toBeVisible();
  });
});

test('a user who has written the limit of a minute reads so, and that the text is safe, and it is sent later', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  const entries = '**/rest/v1/entries*';
  await page.route(entries, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({
          status: 429,
          headers: { 'Retry-After': '1' },
          json: { code: '53400', message: 'Too much', details: null, hint: null },
        }),
  );
  await page.keyboard.type('too much');
  await expect(status(page, 'Not saved yet – you have written your limit for this minute')).toBeVisible();
  await expect(status(page, 'Your text is safe in this browser and is sent in a minute.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.unroute(entries);
  await expectSaved(page);
  await expect(page.getByText('Your text is safe')).toBeHidden();
  expect(await readStoredLog(request, session, today())).toBe(log('too much'));
});

test('a log with elements that the editor does not support is shown read-only', async ({ page, signUp }) => {
  await page.route(`**/rest/v1/entries*date=eq.${daysAgo(1)}*`, (route) =>
    route.fulfill({
      json: [
        {
          content: '<p>a</p><table><tbody><tr><td>cell</td></tr></tbody></table>',
          id: crypto.randomUUID(),
          revision: 1,
          updated_at: new Date().toISOString(),
        },
      ],
    }),
  );
  await signUp(page, { path: `/journal?date=${daysAgo(1)}` });
  await expect(page.getByRole('alert').filter({ hasText: 'You cannot edit it' })).toBeVisible();
  await expect(page.getByRole('group', { name: /^Log for/ })).toContainText('cell');
  await expect(editor(page)).toHaveCount(0);
});

test('a save that the server rejects as signed out, although the session lives, can be repeated', async ({
  page,
  context,
  signUp,
}) => {
  await page.clock.install();
  await signUp(page);
  await context.route('**/rest/v1/entries*', (route) =>
    isWrite(route.request()) ? route.fulfill({ status: 401, json: {} }) : route.fallback(),
  );
  await page.keyboard.type('kept');
  await skipToSave(page);
  await expect(status(page, 'Not saved – sign in to save it')).toBeVisible();
  await context.unroute('**/rest/v1/entries*');
  await page.getByRole('button', { name: 'Try now' }).click();
  await expectSaved(page);
});

for (const [answer, fulfilled] of Object.entries({
  'a redirect to its sign-in': { status: 302, headers: { location: 'https://login.invalid/' } },
  'its sign-in page': { status: 200, contentType: 'text/html', body: '<!doctype html><h1>Sign in</h1>' },
})) {
  test(`a proxy that answers a save with ${answer} is named with a reload, which keeps the text`, async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page);
    await context.route('**/rest/v1/entries*', (route) => route.fulfill(fulfilled));
    await page.keyboard.type('kept');
    await expect(status(page, 'Not saved – reload the page to save it')).toBeVisible();
    await context.unroute('**/rest/v1/entries*');
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await expectSaved(page);
    await expect(editor(page)).toContainText('kept');
  });
}
