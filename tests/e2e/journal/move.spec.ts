/** Moves a log to another day, by keys and from the menu, and while a second tab has an older copy of the log open. */
import { dayLabel as labelOf } from '#domain/day/day.ts';
import {
  dayLabel,
  daysAgo,
  editor,
  items,
  log,
  openDay,
  sessionOf,
  status,
  readStoredLog,
  today,
  chooseDay,
  moveDialog,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

test('unsaved text moves with its log, and undo moves both back', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  await signUp(page, { logs: { [daysAgo(2)]: log('another day') } });
  const session = await sessionOf(page);
  await page.keyboard.type('written on the wrong day');
  await page.keyboard.press('Alt+m');
  await expect(moveDialog(page)).toBeVisible();
  await expect(moveDialog(page).getByRole('gridcell').getByRole('button').and(page.locator(':focus'))).toBeEnabled();
  await inBothThemes(page, expectAccessible);
  const taken = moveDialog(page).getByRole('button', { name: `${labelOf(today())}, today, has entry` });
  await expect(taken).toBeDisabled();

  const to = daysAgo(1);
  await chooseDay(page, today(), to);
  await expect(dayLabel(page)).toHaveText(labelOf(to));
  await expect(moveDialog(page)).toBeHidden();
  // The toast stays while the pointer is on it.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expect(editor(page)).toBeFocused();
  await expect(items(page)).toHaveText(['written on the wrong day']);
  await expectToast(page, `Moved to ${labelOf(to)}.`);
  await expect.poll(() => readStoredLog(request, session, to)).toBe(log('written on the wrong day'));
  await expect.poll(() => readStoredLog(request, session, today())).toBe(null);

  // The cache is current for the old and the new day, so either day can be edited.
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', and more');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(dayLabel(page)).toHaveText(labelOf(today()));
  await expect(items(page)).toHaveText(['written on the wrong day, and more']);
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await expect.poll(() => readStoredLog(request, session, today())).toBe(log('written on the wrong day, and more'));
  await expect.poll(() => readStoredLog(request, session, to)).toBe(null);
  // Uses a key, because the pointer is where the toast was.
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(items(page)).toHaveText(['']);
  await expect(editor(page)).toBeFocused();
});

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test('the menu moves a log and offers it only for a day with a log, and a log moves while it is written', async ({
    page,
    signUp,
  }) => {
    await page.clock.install();
    await signUp(page, { logs: { [daysAgo(1)]: log('late work') } });
    const entry = page.getByRole('menuitem', { name: 'Move this log to another day…' });
    const actions = page.getByRole('button', { name: 'Actions for this day' });
    await actions.click();
    await expect(page.getByRole('menuitem', { name: 'Deleted days…' })).toBeVisible();
    await expect(entry).toHaveCount(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(items(page)).toHaveText(['late work']);
    await actions.click();
    await entry.click();
    await expect(moveDialog(page)).toBeVisible();
    await expectNoHorizontalScroll(page);
    await chooseDay(page, daysAgo(1), today());
    await expect(dayLabel(page)).toHaveText(labelOf(today()));
    await expect(items(page)).toHaveText(['late work']);
    // The toast covers the day bar, so it disappears after a while.
    await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible();
    await page.clock.runFor(25_000);
    await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);

    await test.step('the editor has the focus', async () => {
      await items(page).tap();
      await page.keyboard.type('written: ');
      await page.keyboard.press('Alt+m');
      await chooseDay(page, today(), daysAgo(1));
      await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(1)));
      await expect(items(page)).toHaveText([/written: /]);
    });
  });
});

test('text that a second tab types on the old day is added to the moved log, without a second log', async ({
  page,
  context,
  signUp,
  request,
  expectAccessible,
}) => {
  const [from, to] = [daysAgo(1), daysAgo(2)];
  await signUp(page, { path: `/journal?date=${from}`, logs: { [from]: log('first') } });
  const session = await sessionOf(page);
  await expect(items(page)).toHaveText(['first']);
  const second = await context.newPage();
  await openDay(second, from);
  await expect(items(second)).toHaveText(['first']);

  // The save of the second tab arrives after the move: a tab without unsaved text would show the move at once.
  const isMoved = Promise.withResolvers<void>();
  await second.route('**/rest/v1/entries*', async (route) => {
    if (route.request().method() === 'PATCH') await isMoved.promise;
    await route.continue();
  });
  const save = second.waitForRequest((sent) => sent.method() === 'PATCH');
  await editor(second).click();
  await second.keyboard.press('ControlOrMeta+End');
  await second.keyboard.insertText(' and second');
  await save;
  await page.bringToFront();
  await page.keyboard.press('Alt+m');
  await chooseDay(page, from, to);
  await expect(dayLabel(page)).toHaveText(labelOf(to));
  isMoved.resolve();

  const moved = second.getByRole('heading', { name: `This log was moved to ${labelOf(to)}.` });
  await expect(moved.or(status(second, /^Saved/))).toBeVisible();
  await expect(moved).toBeVisible();
  await expect(items(second)).toHaveText(['first and second']);
  await expect.poll(() => readStoredLog(request, session, from)).toBe(null);
  await inBothThemes(second, expectAccessible);
  await second.getByRole('button', { name: 'Add it to that day' }).click();
  await expect(dayLabel(second)).toHaveText(labelOf(to));
  await expect.poll(() => readStoredLog(request, session, to)).toBe(log('first and second'));
  await expect.poll(() => readStoredLog(request, session, from)).toBe(null);
  await second.close();
});

test.describe('when the connection breaks', () => {
  test.use({ expectedErrors: /Failed to load resource: net::/ });

  test('a move with lost answers is reported as unknown, and a retry finds the log once', async ({
    page,
    signUp,
    request,
  }) => {
    await signUp(page, { path: `/journal?date=${daysAgo(1)}`, logs: { [daysAgo(1)]: log('mine') } });
    const session = await sessionOf(page);
    await expect(items(page)).toHaveText(['mine']);
    // The server executes each PATCH request, and the page gets no answer.
    await page.route('**/rest/v1/entries*', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.keyboard.press('Alt+m');
    await chooseDay(page, daysAgo(1), daysAgo(2));
    await expect(moveDialog(page).getByText('The server did not answer')).toBeVisible();
    await page.unroute('**/rest/v1/entries*');
    await moveDialog(page).getByRole('button', { name: 'Try again' }).click();
    await expect(dayLabel(page)).toHaveText(labelOf(daysAgo(2)));
    await expect(items(page)).toHaveText(['mine']);
    await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toBe(null);
    await expect.poll(() => readStoredLog(request, session, daysAgo(2))).toBe(log('mine'));
  });
});
