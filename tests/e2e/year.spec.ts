/** The page of one year: its facts, its print, its way from the calendar and the reviews, and what a plan does not open. */
import type { Locator } from '@playwright/test';
import { addDays, dateLabel, type Day } from '#domain/day/day.ts';
import { rangeOf } from '#domain/plan/review-period.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { log, sessionOf, today } from './support/journal.ts';
import { expect, expectNoHorizontalScroll, inBothThemes, test } from './support/test.ts';

const LAST_YEAR = rangeOf('year', today(), 1);
const YEAR = LAST_YEAR.from.slice(0, 4);
const TEXT = 'Sent the offer to Weber #sales';

test('says what a year held, prints on one page, and leads to Find', async ({ page, signUp, expectAccessible }) => {
  const dates = Array.from({ length: 40 }, (_day, index): Day => addDays(LAST_YEAR.from, index * 7 + 2));
  await signUp(page, {
    path: '/reviews',
    isCloser: true,
    logs: { ...Object.fromEntries(dates.map((date) => [date, log(TEXT, 'Slept')])), [today()]: log(TEXT) },
  });
  await page.getByRole('link', { name: `${today().slice(0, 4)} on one page` }).click();
  await expect(page.getByRole('heading', { level: 1, name: today().slice(0, 4) })).toBeVisible();
  await page.getByRole('link', { name: YEAR, exact: true }).click();
  await expect(page).toHaveURL(`/year/${YEAR}`);
  await expect(page.getByText(/^You accounted for \d+ of \d+ workdays\.$/)).toBeVisible();
  await expect(page.getByText(/^Your busiest month was \w+, with \d+ lines on \d days\.$/)).toBeVisible();
  await expect(page.getByRole('rowheader', { name: /^January: \d logs$/ })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.setViewportSize({ width: 360, height: 620 });
  await expectNoHorizontalScroll(page);
  await expect(page.getByText(/streak|badge|missed/i)).toHaveCount(0);

  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1);

  await page.getByRole('link', { name: '#sales' }).click();
  const find = page.getByRole('dialog', { name: 'Find' });
  await expect(find.getByRole('combobox')).toHaveValue('#sales');
  await expect(find.getByRole('option').first()).toContainText('Weber');
});

test('shows a Dabbler the days of a locked year without what they hold, and one offer', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const date = addDays(LAST_YEAR.from, 40);
  await signUp(page, { path: `/journal?date=${today()}`, logs: { [date]: log(TEXT) } });
  await page.getByRole('heading', { level: 1 }).getByRole('button').click();
  const calendar = page.getByRole('dialog', { name: 'Select Date' });
  await calendar
    .getByRole('button', { name: /choose a month|month and year|\d{4}/i })
    .first()
    .click();
  await calendar.getByRole('button', { name: 'Previous year' }).click();
  await calendar.getByRole('link', { name: `${YEAR} on one page` }).click();
  await expect(page).toHaveURL(`/year/${YEAR}`);
  await expect(page.getByRole('rowheader', { name: 'February: 1 log' })).toBeVisible();
  await expect(page.getByText('Scores, tags and names of older days belong to Closer.')).toBeVisible();
  await expect(page.getByText('Weber')).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await page.getByRole('gridcell', { name: `${dateLabel(date)}: a log, Closer only` }).click();
  await expect(page).toHaveURL(`/journal?date=${date}`);
  await expect(page.getByText('Weber')).toHaveCount(0);
});

test('marks days off, and opens a day by mouse, keyboard and touch', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  const [off, worked] = [addDays(LAST_YEAR.from, 40), addDays(LAST_YEAR.from, 41)];
  await signUp(page, {
    path: `/year/${YEAR}`,
    isCloser: true,
    logs: { [worked]: log(TEXT), [addDays(worked, 1)]: log(TEXT) },
  });
  const { access_token: token, user } = await sessionOf(page);
  const stored = await request.post('/rest/v1/time_off', {
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${token}` },
    data: { user_id: user.id, first_day: off, last_day: worked },
  });
  expect(stored.ok()).toBe(true);
  await page.reload();
  const cell = (date: Day, words: string) => page.getByRole('gridcell', { name: `${dateLabel(date)}: ${words}` });
  await expect(cell(off, 'day off')).toBeVisible();
  await expect(cell(worked, 'a log')).toBeVisible();
  await expect(page.getByText('Time off')).toBeVisible();
  await inBothThemes(page, expectAccessible);

  // A contrast theme of the system keeps a day with a log apart from one without.
  await page.emulateMedia({ forcedColors: 'active' });
  const middleOf = async (square: Locator): Promise<Buffer> => {
    const { x, y, width, height } = (await square.boundingBox())!;
    return page.screenshot({ clip: { x: x + width / 2, y: y + height / 2, width: 1, height: 1 } });
  };
  const empty = page.getByRole('gridcell', { name: dateLabel(addDays(off, -1)), exact: true });
  expect(await middleOf(cell(worked, 'a log'))).not.toEqual(await middleOf(empty));
  await page.emulateMedia({ forcedColors: 'none' });

  await cell(off, 'day off').click();
  await expect(page).toHaveURL(`/journal?date=${off}`);
  await page.goBack();
  await cell(addDays(worked, 1), 'a log').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(cell(worked, 'a log')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/journal?date=${worked}`);
});

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 760 } });

  test('a tap names the day before it opens it', async ({ page, signUp, expectAccessible }) => {
    const date = addDays(LAST_YEAR.from, 40);
    await signUp(page, { path: `/year/${YEAR}`, isCloser: true, logs: { [date]: log(TEXT) } });
    const cell = page.getByRole('gridcell', { name: `${dateLabel(date)}: a log` });
    // Wide enough to see.
    expect((await cell.boundingBox())!.width).toBeGreaterThan(8);
    const logs = page.getByText('1 log', { exact: true });
    const endOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().right);
    expect(await endOf(logs)).toBeCloseTo(await endOf(logs.locator('..')), 0);
    await cell.tap();
    const named = page.getByRole('status').filter({ hasText: `${dateLabel(date)}: a log.` });
    await expect(named).toBeVisible();
    await expect(page).toHaveURL(`/year/${YEAR}`);
    await expectAccessible(page);
    await named.getByRole('link', { name: 'Open' }).tap();
    await expect(page).toHaveURL(`/journal?date=${date}`);
  });
});

test('an address without a year that has begun becomes that of this year', async ({ page, signUp }) => {
  await signUp(page, { path: '/year/soon' });
  await expect(page).toHaveURL(`/year/${today().slice(0, 4)}`);
  await expect(page.getByText(`No logs in ${today().slice(0, 4)} yet.`)).toBeVisible();
  // No year before this one has a log.
  await expect(page.getByRole('navigation', { name: 'Years' }).getByRole('link')).toHaveCount(0);
  await page.getByRole('link', { name: 'Write today’s log' }).click();
  await expect(page).toHaveURL('/journal');
});
