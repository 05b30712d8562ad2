/** The settings of the day: its end, time off, and prompts (docs/specification/time-off.md). */
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { addDays, dateLabel, dayLabel as labelOf, type Day } from '#domain/day/day.ts';
import { promptOf } from '#domain/habit/prompts.ts';
import { daysAgo, editor, log, sessionOf, storePreferences, today } from './support/journal.ts';
import { openSections } from './support/settings.ts';
import { expect, expectNoHorizontalScroll, inBothThemes, loseAnswer, test } from './support/test.ts';

test('time off is added, marked in the calendar and the year, removed, and brought back', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const [first, last] = [daysAgo(4), daysAgo(2)];
  await signUp(page, { isCloser: true, path: '/settings', logs: { [daysAgo(3)]: log('worked anyway') } });
  const card = page.getByRole('region').or(page.locator('section')).filter({ hasText: 'Days off count neither' });
  await openSections(page, 'Time off');
  await page.getByLabel('First day').fill(last);
  await page.getByLabel('Last day').fill(first);
  const add = page.getByRole('button', { name: 'Add time off' });
  await add.click();
  await expect(page.getByText('The last day is before the first.')).toBeVisible();
  await page.getByLabel('First day').fill(first);
  await page.getByLabel('Last day').fill(last);
  await add.click();
  await expect(card.getByText(/^Added /)).toBeVisible();
  const row = page.getByRole('list', { name: 'Your time off' }).getByRole('listitem');
  await expect(row).toHaveText(new RegExp(dateRangeLabel(first, last)));
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  await test.step('a range that touches it becomes one with it', async () => {
    await page.getByLabel('First day').fill(daysAgo(1));
    await add.click();
    await expect(row).toHaveText(new RegExp(dateRangeLabel(first, daysAgo(1))));
    await expect(row).toHaveCount(1);
  });

  await test.step('remove and undo', async () => {
    await row.getByRole('button', { name: /^Remove / }).click();
    await expect(row).toHaveCount(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(row).toHaveCount(1);
  });

  await test.step('the section sums itself up in a line', async () => {
    await page.getByRole('button', { name: 'Close: Time off' }).click();
    await expect(row).toBeHidden();
    await expect(page.getByText('None planned')).toBeVisible();
  });

  await test.step('the calendar', async () => {
    await page.goto(`/journal?date=${today()}`);
    await expect(editor(page)).toBeVisible();
    await page.keyboard.press('Alt+c');
    const calendar = page.getByRole('dialog', { name: 'Select Date' });
    const cell = (date: Day, ...words: string[]) =>
      calendar.getByRole('button', { name: [labelOf(date), ...words].join(', '), exact: true });
    if (first.slice(0, 7) !== today().slice(0, 7))
      await calendar.getByRole('button', { name: 'Previous month' }).click();
    await expect(cell(first, 'day off')).toBeVisible();
    await expect(cell(addDays(first, 1), 'has entry', 'day off')).toBeVisible();
    await expect(calendar.getByText('Time off')).toBeVisible();
    await inBothThemes(page, expectAccessible);
  });

  await test.step('the year', async () => {
    await page.goto('/reviews');
    const year = page.getByRole('grid', { name: /^Logs of the last twelve months/ });
    await expect(year.getByRole('gridcell', { name: `${dateLabel(first)}: day off` })).toBeVisible();
    await expect(
      year.getByRole('gridcell', { name: `${dateLabel(addDays(first, 1))}: log without a score` }),
    ).toBeVisible();
  });
});

test('the end of the day and prompts are chosen once for the account', async ({ page, signUp }) => {
  await signUp(page, { path: '/settings' });
  await expect(page.getByText('Ends at midnight')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'At midnight (default)' })).toHaveCount(0);
  await openSections(page, 'Day', 'Prompts');
  await expect(page.getByRole('radio', { name: 'At midnight (default)' })).toBeChecked();
  await page.getByRole('radio', { name: /^At 0?3:00/ }).check();
  const stored = () => page.evaluate(() => localStorage.getItem('hustle-forge:day-ends-at'));
  await expect.poll(stored).toBe('3');
  await expect(page.getByText(/^Ends at 0?3:00/)).toBeVisible();
  await page.getByRole('radio', { name: /^Another question each day/ }).check();
  await expect
    .poll(async () => {
      const { access_token: token } = await sessionOf(page);
      const answer = await page.request.get('/rest/v1/preferences?select=day_ends_at,prompts', {
        headers: { authorization: `Bearer ${token}` },
      });
      return answer.json() as Promise<unknown>;
    })
    .toEqual([{ day_ends_at: 3, prompts: true }]);
});

test('with prompts the empty page of today asks another question from noon on', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  const at = (hour: number) => new Date(new Date().setHours(hour, 30, 0, 0));
  await page.clock.install({ time: at(10) });
  await signUp(page);
  const question = page.locator('[data-placeholder]').first();
  await expect(question).toHaveAttribute('data-placeholder', 'What have you done today?');
  await storePreferences(request, await sessionOf(page), { prompts: true });
  await page.reload();
  const stored = () =>
    page.evaluate(() => Object.values(localStorage).some((value) => String(value).includes('"prompts":true')));
  await expect.poll(stored).toBe(true);
  await expect(question).toHaveAttribute('data-placeholder', 'What have you done today?');
  await page.clock.setSystemTime(at(13));
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(question).toHaveAttribute('data-placeholder', promptOf(today()));
  await inBothThemes(page, expectAccessible);
  await page.reload();
  await expect(question).toHaveAttribute('data-placeholder', promptOf(today()));
});

test.describe('without the preferences', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('the cards say that their setting could not be loaded, and load on a second try', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await page.route('**/rest/v1/preferences?*', (route) => route.abort());
    await signUp(page, { path: '/settings' });
    await openSections(page, 'Day', 'Prompts', 'Reminder', 'Weekly digest');
    const alerts = page.getByRole('alert').filter({ hasText: "Couldn't load this setting." });
    await expect(alerts).toHaveCount(4);
    await inBothThemes(page, expectAccessible);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).last().click();
    await expect(alerts).toHaveCount(0);
    await expect(page.getByText(/^A mail on Friday evening/)).toBeFocused();
    await expect(page.getByRole('radio', { name: 'At midnight (default)' })).toBeEnabled();
    await expect(page.getByRole('checkbox', { name: 'Send me the digest' })).toBeEnabled();
  });

  test('a change leaves the other preferences as they are', async ({ page, signUp, request }) => {
    await signUp(page, { path: '/settings' });
    const preferences = { day_ends_at: 3, remind_by_mail: true, remind_at: 18 * 60 } as const;
    await storePreferences(request, await sessionOf(page), preferences);
    await page.reload();
    await expect(page.getByText(/^Ends at 0?3:00/)).toBeVisible();
    let isChanged = false;
    await page.route('**/rest/v1/preferences*', (route) => {
      isChanged ||= route.request().method() === 'POST';
      return isChanged ? route.fallback() : route.abort();
    });
    await page.reload();
    await openSections(page, 'Reminder');
    const alert = page.getByRole('alert').filter({ hasText: "Couldn't load this setting." });
    await expect(alert).toBeVisible();
    await page.getByRole('combobox', { name: 'At' }).selectOption({ value: '1170' });
    await expect(alert).toHaveCount(0);
    await expect(page.getByRole('combobox', { name: 'At' })).toHaveValue('1170');
    await expect(page.getByText(/^Ends at 0?3:00/)).toBeVisible();
    expect(await page.evaluate(() => localStorage.getItem('hustle-forge:day-ends-at'))).toBe('3');
  });
});

test.describe('with a slow connection', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('the last of two quick choices is stored, and a choice whose answer was lost is shown', async ({
    page,
    signUp,
  }) => {
    await signUp(page, { path: '/settings' });
    await openSections(page, 'Prompts');
    const off = page.getByRole('radio', { name: 'What have you done today?' });
    const on = page.getByRole('radio', { name: /^Another question each day/ });
    const first = Promise.withResolvers<void>();
    const sent: (string | null)[] = [];
    await page.route('**/rest/v1/preferences', async (route) => {
      sent.push(route.request().postData());
      if (sent.length === 1) await first.promise;
      await (sent.length === 3 ? loseAnswer(route) : route.fallback());
    });
    await on.check();
    await off.check();
    first.resolve();
    const stored = async () => {
      const { access_token: token } = await sessionOf(page);
      const headers = { authorization: `Bearer ${token}` };
      return (await page.request.get('/rest/v1/preferences?select=prompts', { headers })).json() as Promise<unknown>;
    };
    await expect.poll(() => sent.length).toBe(2);
    await expect.poll(stored).toEqual([{ prompts: false }]);
    await on.click();
    await expect(page.getByRole('alert').filter({ hasText: "Couldn't save this setting" })).toBeVisible();
    await expect(on).toBeChecked();
    expect(await stored()).toEqual([{ prompts: true }]);
  });
});
