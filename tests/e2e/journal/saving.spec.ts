/** Saving a day: only edits are sent, no word is lost, and every failure is shown. */
import {
  daysAgo,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  skipToRetry,
  skipToSave,
  status,
  readStoredLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expect, test } from '../support/test.ts';
import type { Request } from '@playwright/test';

const isWrite = (request: Request): boolean => request.url().includes('/rest/v1/') && request.method() !== 'GET';

test('opening days sends no write, and no request of the boot script twice', async ({ page, signUp }) => {
  const writes: string[] = [];
  page.on('request', (request) => void (isWrite(request) && writes.push(request.url())));
  await signUp(page);
  await storeLog(page.request, await sessionOf(page), today(), log('kept'));
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/rest/v1/')) reads.push(request.url());
  });
  await page.reload();
  await expect(items(page)).toHaveText(['kept']);
  // The menu shows the plan and the calendar the days with logs, so the page has requested both by now.
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog', { name: 'Menu' }).getByText('Dabbler')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+c');
  await expect(page.getByRole('dialog', { name: 'Select Date' })).toBeVisible();
  await page.keyboard.press('Escape');
  // If a prefetch URL of the boot script differed from the app's URL by one letter, both URLs would be requested.
  expect(reads.filter((url) => url.includes(`date=eq.${today()}`))).toHaveLength(1);
  expect(reads.filter((url) => url.includes('select=date'))).toHaveLength(1);
  expect(reads.filter((url) => url.includes('/profiles'))).toHaveLength(1);
  expect(reads.toSorted()).toEqual([...new Set(reads)].toSorted());

  await editor(page).click();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(items(page)).toHaveText(['']);
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(items(page)).toHaveText(['kept']);
  await page.reload();
  await expect(items(page)).toHaveText(['kept']);
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
  await page.reload();
  await expect(items(page)).toHaveText(['in a hurry']);
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', before the door closes');
  await page.close();
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log('in a hurry, before the door closes'));
});

test.describe('while the server cannot be reached', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('unsaved text stays and is sent when the server answers, and a lost answer causes no conflict', async ({
    page,
    signUp,
    request,
  }) => {
    await page.clock.install();
    await signUp(page);
    await page.route('**/rest/v1/**', (route) => route.abort());
    await page.keyboard.type('written into the void');
    await skipToSave(page);
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await page.keyboard.type(', and on');
    await page.unroute('**/rest/v1/**');
    await skipToRetry(page);
    await expectSaved(page);
    expect(await readStoredLog(request, await sessionOf(page), today())).toBe(log('written into the void, and on'));

    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(items(page)).toHaveText(['']);
    await page.route('**/rest/v1/entries*', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await editor(page).click();
    await page.keyboard.type('heard but not answered');
    await skipToSave(page);
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await page.unroute('**/rest/v1/entries*');
    await skipToRetry(page);
    await expectSaved(page);
    await expect(page.getByRole('button', { name: 'Keep both' })).toBeHidden();
  });

  test('text typed offline stays on the device, is listed on other days, and survives a closed page', async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page);
    await context.setOffline(true);
    await page.keyboard.type('on the train');
    await expect(status(page, 'On this device only – sending when online')).toBeVisible();
    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(page.getByRole('button', { name: /is not saved yet$/ })).toBeVisible();
    await context.setOffline(false);
    await expect(page.getByRole('button', { name: /is not saved yet$/ })).toBeHidden();
    await page.getByRole('button', { name: 'Next day' }).click();
    await expectSaved(page);
    await expect(items(page)).toHaveText(['on the train']);

    await page.route('**/rest/v1/**', (route) => route.abort());
    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(', and after it');
    await page.goto('about:blank');
    await page.unroute('**/rest/v1/**');
    await page.goto('/journal');
    await expect(items(page)).toHaveText(['on the train, and after it']);
    await expectSaved(page);
    expect(await readStoredLog(context.request, await sessionOf(page), today())).toBe(
      log('on the train, and after it'),
    );
  });

  test('a day that fails to load is not shown as empty, and loads on retry and when the browser is online', async ({
    page,
    context,
    signUp,
  }) => {
    const failed = page.getByRole('heading', { name: 'This day could not be loaded.' });
    await signUp(page);
    await page.route('**/rest/v1/entries*', (route) => route.abort());
    await page.goto(`/journal?date=${daysAgo(3)}`);
    await expect(failed).toBeVisible();
    await expect(editor(page)).toHaveCount(0);
    await page.unroute('**/rest/v1/entries*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(editor(page)).toBeVisible();

    await page.route('**/rest/v1/entries*', (route) => route.abort());
    await page.goto(`/journal?date=${daysAgo(5)}`);
    await expect(failed).toBeVisible();
    await context.setOffline(true);
    await page.unroute('**/rest/v1/entries*');
    await context.setOffline(false);
    await expect(editor(page)).toBeVisible();
  });
});

test('a tab takes over what another tab added when the user comes back to it', async ({ page, context, signUp }) => {
  await page.clock.install();
  await signUp(page);
  await page.keyboard.type('first tab');
  await skipToSave(page);
  await expectSaved(page);
  const other = await context.newPage();
  await openDay(other, today());
  await editor(other).click();
  await other.keyboard.press('End');
  await other.keyboard.type('\nsecond tab');
  await skipToSave(other);
  await expectSaved(other);
  await other.close();
  await page.bringToFront();
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(items(page)).toHaveText(['first tab', 'second tab']);
});

test('a log with elements that the editor does not support is shown read-only', async ({ page, signUp }) => {
  await signUp(page);
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
  await page.goto(`/journal?date=${daysAgo(1)}`);
  await expect(page.getByRole('alert').filter({ hasText: 'You cannot edit it' })).toBeVisible();
  await expect(page.getByRole('group', { name: /^Log for/ })).toContainText('cell');
  await expect(editor(page)).toHaveCount(0);
});
