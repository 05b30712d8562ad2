/** Saving a day: nothing is sent unasked, nothing is lost, and every failure is said. */
import {
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  openDay,
  sessionOf,
  status,
  storedLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expect, test } from '../support/test.ts';
import type { Request } from '@playwright/test';

const isWrite = (request: Request): boolean => request.url().includes('/rest/v1/') && request.method() !== 'GET';

test('opening days sends nothing', async ({ page, signUp }) => {
  const writes: string[] = [];
  page.on('request', (request) => void (isWrite(request) && writes.push(request.url())));
  await signUp(page);
  await storeLog(page.request, await sessionOf(page), today(), log('kept'));
  await page.reload();
  await expect(items(page)).toHaveText(['kept']);
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

test('a save leaves two seconds after the last key, once', async ({ page, signUp }) => {
  await page.clock.install();
  await signUp(page);
  const writes: Request[] = [];
  page.on('request', (request) => void (isWrite(request) && writes.push(request)));
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await editor(page).click();
  await page.keyboard.type('quick words');
  await expect(status(page, 'Writing...')).toBeVisible();
  await page.clock.runFor(1_900);
  expect(writes).toHaveLength(0);
  await page.clock.runFor(200);
  await expect.poll(() => writes.length).toBe(1);
  await expectSaved(page);
  await page.clock.runFor(20_000);
  expect(writes).toHaveLength(1);
});

test('leaving the day within the two seconds loses nothing', async ({ page, signUp }) => {
  await signUp(page);
  await page.keyboard.type('in a hurry');
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(items(page)).toHaveText(['']);
  await page.keyboard.press('Alt+ArrowRight');
  await expect(items(page)).toHaveText(['in a hurry']);
  await page.reload();
  await expect(items(page)).toHaveText(['in a hurry']);
});

test('typing fast and closing the tab at once loses nothing', async ({ page, signUp, request }) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('the last words before the door closes');
  await page.close();
  await expect.poll(() => storedLog(request, session, today())).toBe(log('the last words before the door closes'));
});

test.describe('while the server cannot be reached', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('the words stay, the line says so, and they are sent when it is back', async ({ page, signUp, request }) => {
    await signUp(page);
    await page.route('**/rest/v1/**', (route) => route.abort());
    await page.keyboard.type('written into the void');
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await page.keyboard.type(', and on');
    await page.unroute('**/rest/v1/**');
    await expectSaved(page);
    expect(await storedLog(request, await sessionOf(page), today())).toBe(log('written into the void, and on'));
  });

  test('a lost answer is no conflict', async ({ page, signUp }) => {
    await signUp(page);
    await page.route('**/rest/v1/entries*', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.keyboard.type('heard but not answered');
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await page.unroute('**/rest/v1/entries*');
    await expectSaved(page);
    await expect(page.getByRole('button', { name: 'Keep both' })).toBeHidden();
  });

  test('offline it says where the words are, also for a day that was left', async ({ page, context, signUp }) => {
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
  });

  test('a page that is closed offline gives its words to the next one', async ({ page, context, signUp }) => {
    await signUp(page);
    await page.route('**/rest/v1/**', (route) => route.abort());
    await page.keyboard.type('kept on this device');
    await page.goto('about:blank');
    await page.unroute('**/rest/v1/**');
    await page.goto('/journal');
    await expect(items(page)).toHaveText(['kept on this device']);
    await expectSaved(page);
    expect(await storedLog(context.request, await sessionOf(page), today())).toBe(log('kept on this device'));
  });

  test('a day that does not load is never an empty one', async ({ page, signUp }) => {
    await signUp(page);
    await page.route('**/rest/v1/entries*', (route) => route.abort());
    await page.goto(`/journal?date=${daysAgo(3)}`);
    await expect(page.getByRole('heading', { name: 'This day could not be loaded.' })).toBeVisible();
    await expect(editor(page)).toHaveCount(0);
    await page.unroute('**/rest/v1/entries*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(editor(page)).toBeVisible();
  });

  test('a day that did not load comes by itself once the browser is online', async ({ page, context, signUp }) => {
    await signUp(page);
    await page.route('**/rest/v1/entries*', (route) => route.abort());
    await page.goto(`/journal?date=${daysAgo(3)}`);
    await expect(page.getByRole('heading', { name: 'This day could not be loaded.' })).toBeVisible();
    await context.setOffline(true);
    await page.unroute('**/rest/v1/entries*');
    await context.setOffline(false);
    await expect(editor(page)).toBeVisible();
  });
});

test('two devices: nothing is overwritten, and both can be kept', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('shared');
  await expectSaved(page);
  await storeLog(request, session, today(), log('shared', 'from the phone'));
  await page.keyboard.type('\nfrom the desk');
  await expect(page.getByRole('heading', { name: 'This day was changed somewhere else.' })).toBeVisible();
  await expect(status(page, 'Not saved – changed elsewhere')).toBeVisible();
  // A stray click beside the two versions writes in neither.
  await expect(page.getByRole('article')).toHaveAttribute('data-writable', 'false');
  // The bars, faded while somebody writes, come back with the pointer.
  await page.mouse.move(300, 300);
  await expectAccessible(page);
  expect(await storedLog(request, session, today())).toBe(log('shared', 'from the phone'));
  await page.getByRole('button', { name: 'Keep both' }).click();
  await expect(items(page)).toHaveText(['shared', 'from the desk', 'from the phone']);
  await expectSaved(page);
  expect(await storedLog(request, session, today())).toBe(log('shared', 'from the desk', 'from the phone'));
});

test('two devices: the other version can be taken, and undo brings mine back', async ({ page, signUp, request }) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('mine');
  await expectSaved(page);
  await storeLog(request, session, today(), log('theirs'));
  await page.keyboard.type(' too');
  await page.getByRole('button', { name: 'Use the other one' }).click();
  await expect(items(page)).toHaveText(['theirs']);
  await editor(page).focus();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(items(page)).toHaveText(['mine too']);
  await expect.poll(() => storedLog(request, session, today())).toBe(log('mine too'));
});

test('two devices: a day that was deleted and begun anew is another one, although both count from one', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('mine');
  await expectSaved(page);
  const deleted = await request.delete(`/rest/v1/entries?date=eq.${today()}`, { headers: headersOf(session) });
  expect(deleted.ok(), await deleted.text()).toBe(true);
  await storeLog(request, session, today(), log('theirs'));
  await page.keyboard.type(' too');
  await expect(page.getByRole('heading', { name: 'This day was changed somewhere else.' })).toBeVisible();
  expect(await storedLog(request, session, today())).toBe(log('theirs'));
});

test('two tabs: what one adds, the other takes over when it is looked at', async ({ page, context, signUp }) => {
  await signUp(page);
  await page.keyboard.type('first tab');
  await expectSaved(page);
  const other = await context.newPage();
  await openDay(other, today());
  await editor(other).click();
  await other.keyboard.press('End');
  await other.keyboard.type('\nsecond tab');
  await expectSaved(other);
  await other.close();
  await page.bringToFront();
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await expect(items(page)).toHaveText(['first tab', 'second tab']);
});

test('a session that ends while somebody writes: the text stays, and the same save goes out after signing in', async ({
  page,
  signUp,
  request,
}) => {
  const person = await signUp(page);
  const session = await sessionOf(page);
  await page.keyboard.type('before');
  await expectSaved(page);
  const ended = await request.post('/auth/v1/logout?scope=global', {
    headers: { apikey: 'x', authorization: `Bearer ${session.access_token}` },
  });
  expect(ended.ok()).toBe(true);
  await page.keyboard.type(' and after');
  const overlay = page.getByRole('dialog');
  await expect(overlay).toBeVisible();
  await expect(items(page)).toHaveText(['before and after']);
  await overlay.getByLabel('Password', { exact: true }).fill(person.password);
  await overlay.getByRole('button', { name: 'Sign in' }).click();
  await expect(overlay).toBeHidden();
  await expectSaved(page);
  expect(await storedLog(request, await sessionOf(page), today())).toBe(log('before and after'));
});

test('a log that holds what the editor does not know is shown, not lost', async ({ page, signUp }) => {
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
  await expect(page.getByRole('alert').filter({ hasText: 'cannot be changed here' })).toBeVisible();
  await expect(page.getByRole('group', { name: /^Log for/ })).toContainText('cell');
  await expect(editor(page)).toHaveCount(0);
});
