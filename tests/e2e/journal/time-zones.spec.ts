/** Days in time zones that lack a midnight or a day, and after a flight to the west. */
import { addDays, day, dayLabel as labelOf, dayOf, type Day } from '#domain/day/day.ts';
import { daysOfMonth, monthOf } from '#domain/day/month.ts';
import {
  dayLabel,
  editor,
  expectSaved,
  items,
  log,
  openDay,
  readStoredLog,
  sessionOf,
  status,
} from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

for (const [timezoneId, text, arrow, next] of [
  ['Pacific/Apia', '2011-12-30', 'ArrowRight', '2011-12-31'],
  ['Africa/Cairo', '2024-04-26', 'ArrowDown', '2024-05-03'],
  ['Atlantic/Azores', '2024-03-31', 'PageUp', '2024-02-29'],
] as const)
  test.describe(`in ${timezoneId}`, () => {
    test.use({ timezoneId });

    test(`the calendar has each day around ${text} once, and opens the day that it shows`, async ({ page, signUp }) => {
      const date = day(text);
      await signUp(page, { isCloser: true, path: `/journal?date=${date}`, logs: { [date]: log('a day') } });
      await expect(dayLabel(page)).toHaveText(labelOf(date));
      await expect(items(page)).toHaveText(['a day']);
      await page.keyboard.press('Alt+c');
      const calendar = page.getByRole('dialog', { name: 'Select Date' });
      const labelIn = (of: Day): string => labelOf(of) + (of === date ? ', has entry' : '');
      const cells = calendar.getByRole('gridcell').getByRole('button');
      await expect(cells.nth(27)).toBeVisible();
      const shown = await cells.evaluateAll((buttons) => buttons.map((button) => button.ariaLabel));
      expect(shown).toEqual(daysOfMonth(monthOf(date)).map(labelIn));
      await expect(calendar.getByRole('button', { name: labelIn(date) })).toBeFocused();
      await page.keyboard.press(arrow);
      await expect(calendar.getByRole('button', { name: labelIn(day(next)) })).toBeFocused();
      await page.keyboard.press('Enter');
      await expect(dayLabel(page)).toHaveText(labelOf(day(next)));
    });
  });

/** West of all other zones, so that a day written elsewhere is tomorrow here. */
test.describe('after a flight over the date line', () => {
  test.use({ timezoneId: 'Pacific/Honolulu' });

  test('the day just written opens from every place, is written, and stays locked to a day without a log', async ({
    page,
    signUp,
    request,
    expectAccessible,
  }) => {
    const localToday = dayOf(new Date(Date.now() - 10 * 3_600_000 + new Date().getTimezoneOffset() * 60_000));
    const written = addDays(localToday, 1);
    await signUp(page, { logs: { [written]: log('landed') } });
    await expect(dayLabel(page)).toHaveText(labelOf(localToday));
    const next = page.getByRole('button', { name: 'Next day' });

    await test.step('the arrow, and writing', async () => {
      await next.click();
      await expect(dayLabel(page)).toHaveText(labelOf(written));
      await expect(items(page)).toHaveText(['landed']);
      await expect(page.getByText('Tomorrow', { exact: true })).toBeVisible();
      await expect(next).toBeDisabled();
      await expectAccessible(page);
      await editor(page).click();
      await page.keyboard.press('ControlOrMeta+End');
      await page.keyboard.type(' and unpacked');
      await expectSaved(page);
      await expect
        .poll(async () => readStoredLog(request, await sessionOf(page), written))
        .toBe(log('landed and unpacked'));
    });

    await test.step('the address', async () => {
      await openDay(page, written);
      await expect(items(page)).toHaveText(['landed and unpacked']);
      await page.getByRole('button', { name: 'Go to today' }).click();
      await expect(dayLabel(page)).toHaveText(labelOf(localToday));
    });

    await test.step('the calendar', async () => {
      await page.keyboard.press('Alt+c');
      const calendar = page.getByRole('dialog', { name: 'Select Date' });
      await expect(calendar.getByRole('button', { name: `${labelOf(localToday)}, today` })).toBeFocused();
      await page.keyboard.press('ArrowRight');
      await expect(calendar.getByRole('button', { name: `${labelOf(written)}, has entry` })).toBeFocused();
      await page.keyboard.press('ArrowRight');
      await expect(calendar.getByRole('button', { name: `${labelOf(written)}, has entry` })).toBeFocused();
      await page.keyboard.press('Enter');
      await expect(items(page)).toHaveText(['landed and unpacked']);
    });

    await test.step('Find, by date', async () => {
      await page.keyboard.press('ControlOrMeta+k');
      const find = page.getByRole('combobox', { name: 'Find words or a date' });
      await find.fill(addDays(written, 1));
      await expect(page.getByText('Nothing found')).toBeVisible();
      await find.fill('tomorrow');
      await page.getByRole('option', { name: `Go to ${labelOf(written)}` }).click();
      await expect(items(page)).toHaveText(['landed and unpacked']);
    });

    await test.step('a later day without a log', async () => {
      await page.goto(`/journal?date=${addDays(written, 1)}`);
      await expect(dayLabel(page)).toHaveText(labelOf(localToday));
    });
  });
});

for (const [locale, time] of [
  ['en-US', /^Saved \d\d?:\d\d [AP]M$/],
  ['en-GB', /^Saved \d\d:\d\d$/],
] as const)
  test.describe(`in ${locale}`, () => {
    test.use({ locale });

    test(`the time of a save reads ${time.source}`, async ({ page, signUp }) => {
      await signUp(page);
      await page.keyboard.type('words');
      await expect(status(page, time)).toBeVisible();
    });
  });

test.describe('where weeks begin on Monday', () => {
  test.use({ locale: 'de-DE' });

  test('the calendar begins on Sunday, offers Monday, and Settings change it', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await signUp(page, { path: '/journal?date=2026-11-01', isCloser: true });
    await dayLabel(page).click();
    const calendar = page.getByRole('dialog', { name: 'Select Date' });
    const heads = calendar.getByRole('columnheader');
    await expect(heads).toHaveText(['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa']);
    await expectAccessible(page);
    await calendar.getByRole('button', { name: 'Monday', exact: true }).click();
    await expect(heads).toHaveText(['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']);
    await expect(calendar.getByText('Weeks from')).toBeHidden();
    const first = calendar.getByRole('row').nth(1).getByRole('button');
    await expect(first).toHaveText(['1']);

    await page.goto('/settings');
    const week = page.getByRole('radio', { name: 'Monday' });
    await expect(week).toBeChecked();
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'Saturday' }).check();
    await page.goto('/journal?date=2026-11-01');
    await dayLabel(page).click();
    await expect(heads).toHaveText(['Sa', 'Su', 'Mo', 'Tu', 'We', 'Th', 'Fr']);
    await expect(calendar.getByText('Weeks from')).toBeHidden();
  });
});
