/** Earlier versions of a log and deleted days: from the menu, by keys, on a phone, offline, and on a locked day. */
import type { Page } from '@playwright/test';
import { dateLabel, dayLabel as labelOf } from '#domain/day/day.ts';
import {
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  holdWrites,
  items,
  log,
  sessionOf,
  readStoredLog,
  storeLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

const dialog = (page: Page, name = 'Earlier versions') => page.getByRole('dialog', { name });
const lines = (page: Page) => dialog(page).getByRole('list', { name: 'compared with' }).getByRole('listitem');

async function openFromMenu(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Actions for this day' }).click();
  await page.getByRole('menuitem', { name }).click();
}

async function emptyDay(page: Page): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
}

const LONG = log('called Ann', 'fixed the import', 'wrote the release notes', 'paid the bills');

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 620 } });

  test('a long comparison covers nothing, and its button is in sight', async ({ page, accounts, openAs, request }) => {
    const account = await accounts.create();
    const many = Array.from({ length: 20 }, (_, index) => `line ${index} of a day that was much longer than a phone`);
    for (const html of [LONG, log('called Ben'), log(...many)])
      await storeLog(request, account.session, daysAgo(1), html);
    await openAs(page, account, `/journal?date=${daysAgo(1)}`);
    await expect(items(page)).toHaveCount(20);
    await openFromMenu(page, 'Earlier versions…');
    const button = dialog(page).getByRole('button', { name: 'Bring back this version' });
    await expect(button).toBeInViewport({ ratio: 1 });
    const legend = dialog(page).getByText('Underlined');
    /** Whether the element can be scrolled to where nothing lies on it. */
    const isUncovered = (element: Element): boolean => {
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      return found !== null && element.contains(found);
    };
    for (const height of [620, 568, 310]) {
      await page.setViewportSize({ width: 320, height });
      for (const part of [legend, lines(page).last(), button])
        await expect.poll(() => part.evaluate(isUncovered), `of ${height} px`).toBe(true);
    }
  });
});

test('an earlier version shows what changed, comes back, and its replacement can be undone', async ({
  page,
  accounts,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { session } = account;
  for (const html of [LONG, log('called Ben'), log('wrote nothing at all')])
    await storeLog(request, session, daysAgo(1), html);
  await openAs(page, account, `/journal?date=${daysAgo(1)}`);
  await expect(items(page)).toHaveText(['wrote nothing at all']);
  await openFromMenu(page, 'Earlier versions…');
  const versions = dialog(page).getByRole('list', { name: 'Versions, newest first' }).getByRole('button');
  await expect(versions).toHaveCount(2);
  await expect(lines(page)).toHaveText([/Removed: called Ben/, /Added: wrote nothing at all/]);
  await inBothThemes(page, expectAccessible);

  await page.keyboard.press('Tab');
  await expect(versions.first()).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(versions.last()).toHaveAttribute('aria-pressed', 'true');
  await expect(versions.last()).toContainText('before most of it was removed');
  await expect(lines(page)).toHaveCount(5);
  await dialog(page).getByRole('radio', { name: 'the next version' }).check();
  await expect(lines(page)).toHaveText([
    /Edited: called.*removed: Ann.*added: Ben/,
    /Removed: fixed the import/,
    /Removed: wrote the release notes/,
    /Removed: paid the bills/,
  ]);

  await dialog(page).getByRole('button', { name: 'Bring back this version' }).click();
  await expect(dialog(page)).toBeHidden();
  // The toast stays while the pointer is on it.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expectToast(page, 'Brought back the earlier version.');
  await expect(items(page)).toHaveCount(4);
  await expectSaved(page);
  await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toBe(LONG);

  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(items(page)).toHaveText(['wrote nothing at all']);
  await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toBe(log('wrote nothing at all'));
  await openFromMenu(page, 'Earlier versions…');
  // The text that was brought back and replaced again is listed once, as the newest.
  await expect(versions).toHaveCount(3);
  await expect(versions.first()).toContainText('before an earlier version came back');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
});

test('unsaved text is saved first, which lists the text before it, stays as a version, and comes back by undo', async ({
  page,
  signUp,
  request,
}) => {
  await signUp(page, { logs: { [today()]: LONG } });
  const session = await sessionOf(page);
  await expect(items(page)).toHaveCount(4);
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('short and typed just now');
  const release = await holdWrites(page);
  const listed = page.waitForResponse('**/rest/v1/entry_versions*');
  await openFromMenu(page, 'Earlier versions…');
  await listed;
  release();
  await dialog(page).getByRole('button', { name: 'Bring back this version' }).click();
  // The toast stays while the pointer is on it.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(items(page)).toHaveCount(4);
  await expect.poll(() => readStoredLog(request, session, today())).toBe(LONG);
  const kept = await request.get('/rest/v1/entry_versions?select=content&order=kept_at.desc&limit=1', {
    headers: headersOf(session),
  });
  expect(await kept.text()).toContain('short and typed just now');

  await editor(page).press('ControlOrMeta+End');
  await page.keyboard.type('\nwritten since');
  await page.getByRole('button', { name: 'Undo' }).click();
  const undone = log('short and typed just now', 'written since');
  await expect.poll(() => readStoredLog(request, session, today())).toBe(undone);
  await expect(editor(page).getByRole('paragraph')).toHaveText(['short and typed just now', 'written since']);
});

test('a right-to-left line of a version has its sign and number on its own side', async ({ page, signUp, request }) => {
  await signUp(page, { logs: { [today()]: log('called Ann', 'תיקנתי', 'wrote notes', 'paid bills') } });
  await expect(items(page)).toHaveCount(4);
  await storeLog(request, await sessionOf(page), today(), log('rested'));
  await openFromMenu(page, 'Earlier versions…');
  await expect(lines(page).filter({ hasText: 'תיקנתי' })).toHaveCSS('direction', 'rtl');
  await expect(lines(page).filter({ hasText: 'called Ann' })).toHaveCSS('direction', 'ltr');
});

test('a day that is emptied is undone from the toast, by keys, and is announced', async ({ page, signUp, request }) => {
  await page.clock.install();
  await signUp(page, { logs: { [today()]: log('a whole day of work') } });
  const session = await sessionOf(page);
  await expect(items(page)).toHaveText(['a whole day of work']);
  await emptyDay(page);
  await page.clock.runFor(3_000);
  const undo = page.getByRole('button', { name: 'Undo' });
  // The toast stays while it has the focus.
  await undo.focus();
  await expect(
    page.getByRole('status').filter({ hasText: `The log of ${dateLabel(today())} was deleted.` }),
  ).toBeVisible();
  await expect.poll(() => readStoredLog(request, session, today())).toBe(null);
  await page.clock.runFor(60_000);
  await page.keyboard.press('Enter');
  await expect(items(page)).toHaveText(['a whole day of work']);
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log('a whole day of work'));
  await expect(undo).toBeHidden();
});

test.describe('without answers at first', () => {
  test.use({ expectedErrors: /Failed to load resource|ERR_/ });

  test('both dialogs say that nothing is lost and try again, and a deleted day is listed on a phone until it is back', async ({
    page,
    signUp,
    request,
    expectAccessible,
  }) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await signUp(page);
    const session = await sessionOf(page);
    const listed = dialog(page, 'Deleted days').getByRole('listitem');
    for (const [entry, name, empty] of [
      ['Earlier versions…', 'Earlier versions', 'has no earlier versions'],
      ['Deleted days…', 'Deleted days', 'No deleted days.'],
    ] as const) {
      await page.route(/rest\/v1\/(entry_versions|deleted_days)/, (route) => route.abort());
      await openFromMenu(page, entry);
      await expect(dialog(page, name).getByRole('alert').filter({ hasText: 'Nothing is lost.' })).toBeVisible();
      await page.unroute(/rest\/v1\/(entry_versions|deleted_days)/);
      await dialog(page, name).getByRole('button', { name: 'Try again' }).click();
      await expect(dialog(page, name)).toContainText(empty);
      await page.keyboard.press('Escape');
    }

    for (const date of [daysAgo(2), daysAgo(5)]) await storeLog(request, session, date, LONG);
    const filter = `date=in.(${daysAgo(2)},${daysAgo(5)})`;
    await request.delete(`/rest/v1/entries?${filter}`, { headers: headersOf(session) });
    await openFromMenu(page, 'Deleted days…');
    await expect(listed).toHaveCount(2);
    await expect(listed.first()).toContainText('called Ann');
    await expectNoHorizontalScroll(page);
    await inBothThemes(page, expectAccessible);

    await page.getByRole('button', { name: `Bring back ${labelOf(daysAgo(5))}` }).click();
    await expectToast(page, `The log of ${dateLabel(daysAgo(5))} is back.`);
    await expect(page).toHaveURL(new RegExp(`date=${daysAgo(5)}`));
    await expect(items(page)).toHaveCount(4);
    await expect.poll(() => readStoredLog(request, session, daysAgo(5))).toBe(LONG);
    await openFromMenu(page, 'Deleted days…');
    await expect(listed).toHaveCount(1);
    await page.keyboard.press('Escape');

    await openFromMenu(page, 'Earlier versions…');
    await expect(lines(page)).toHaveCount(4);
    await expectNoHorizontalScroll(page);
  });
});

test.describe('with a connection that loses requests', () => {
  test.use({ expectedErrors: /net::ERR_FAILED|status of 502/ });

  test('dates, versions and deleted days are read once more', async ({ page, signUp, request }) => {
    const seen = new Set<string>();
    await page.route(/\/(entry_dates|entry_versions|deleted_days)\?/, (route) => {
      const { pathname } = new URL(route.request().url());
      if (seen.has(pathname)) return route.fallback();
      seen.add(pathname);
      return pathname.endsWith('versions') ? route.fulfill({ status: 502, body: 'Bad gateway' }) : route.abort();
    });
    await signUp(page, { logs: { [daysAgo(1)]: LONG, [daysAgo(2)]: LONG } });
    const session = await sessionOf(page);
    await storeLog(request, session, daysAgo(1), log('rested'));
    await page.keyboard.press('Alt+c');
    const calendar = page.getByRole('dialog', { name: 'Select Date' });
    await calendar.getByRole('button', { name: `${labelOf(daysAgo(1))}, has entry` }).click();
    await openFromMenu(page, 'Earlier versions…');
    await expect(dialog(page).getByRole('button', { name: 'Bring back this version' })).toBeVisible();
    await page.keyboard.press('Escape');
    await openFromMenu(page, 'Deleted days…');
    await expect(dialog(page, 'Deleted days').getByText('No deleted days.')).toBeVisible();
  });
});
