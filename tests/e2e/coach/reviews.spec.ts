/** Hustle Reviews: the pitch, and what a Closer sees. */
import { addDays, dateLabel, dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { countWorkdays } from '#domain/day/workdays.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import type { Page } from '@playwright/test';
import { daysAgo, editor, expectSaved, log, sessionOf, storeLog } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

/** Writes a log for each of these days ago, through the API. */
async function write(page: Page, back: readonly number[]): Promise<void> {
  const session = await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => name.endsWith('-auth-token'))!;
    return JSON.parse(localStorage.getItem(key)!) as { access_token: string; user: { id: string } };
  });
  const rows = back.map((days) => ({
    user_id: session.user.id,
    date: addDays(dayOf(new Date()), -days),
    content: '<p>Something worth keeping</p>',
  }));
  const answer = await page.request.post('/rest/v1/entries', {
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${session.access_token}` },
    data: rows,
  });
  expect(answer.status(), await answer.text()).toBe(201);
}

test('a Dabbler sees the pitch', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await page.goto('/reviews');
  await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
  await expect(
    page.getByText('$24/year • Unlimited logs • AI feedback • Trend analysis • Priority support'),
  ).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});

test('a Closer sees how much each period holds', async ({ page, signUp, admin, expectAccessible }) => {
  const { email } = await signUp(page);
  await write(page, [1, 6, 7, 29]);
  await admin('plan:grant', email);
  await page.goto('/reviews');
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeChecked();
  await expect(page.getByText('2 entries')).toBeVisible();
  await expect(page.getByText('4 entries')).toBeVisible();
  await page.getByRole('button', { name: 'I agree' }).click();
  await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeEnabled();
  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(page.getByRole('button', { name: 'Generate 30-Day Analysis' })).toBeEnabled();
  await inBothThemes(page, expectAccessible);
});

test('says that it waits while the plan is being read', async ({ page, signUp }) => {
  await signUp(page);
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/rest/v1/profiles*', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto('/reviews');
  await expect(page.getByRole('status').filter({ hasText: 'Loading...' })).toBeVisible();
  answer();
  await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
});

test('a Closer without entries is told so', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await page.goto('/reviews');
  await expect(page.getByText('No entries found for the selected period')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeDisabled();
});

test('what was written since, here or elsewhere, is counted without loading the page again', async ({
  page,
  request,
  signUp,
  admin,
}) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await page.reload();
  const toReviews = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('link', { name: 'Hustle Reviews' }).click();
    await expect(page).toHaveURL(/\/reviews$/);
  };
  const toJournal = async (): Promise<void> => {
    await page.getByRole('link', { name: /journal/i }).click();
    await expect(editor(page)).toBeVisible();
  };
  const entries = page.getByRole('radio', { name: /Last 7 Days/ });
  await toReviews();
  await expect(entries).toHaveAccessibleName(/0 entries/);

  await toJournal();
  await editor(page).click();
  await page.keyboard.type('Shipped the billing');
  // Left before it is saved: what is read meanwhile knows nothing of it yet.
  await toReviews();
  await expect(entries).toHaveAccessibleName(/1 entry/);
  await expect(page.getByText('Shipped the billing')).toBeVisible();
  await expect(page.getByText('1 day with a log')).toBeVisible();

  await toJournal();
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Paired on the importer');
  await expectSaved(page);
  await toReviews();
  await expect(page.getByText('Paired on the importer')).toBeVisible();

  await toJournal();
  await storeLog(request, await sessionOf(page), daysAgo(1), log('Written on a phone'));
  await toReviews();
  await expect(entries).toHaveAccessibleName(/2 entries/);
  await expect(page.getByText('Written on a phone')).toBeVisible();
});

test('the feedback panel pitches to a Dabbler and speaks of the day to a Closer', async ({
  page,
  signUp,
  admin,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await page.getByRole('button', { name: 'Open feedback' }).click();
  const panel = page.getByRole('dialog', { name: 'HAI Feedback' });
  await expect(panel).toContainText(
    'AI feedback is a premium feature. Upgrade to Closer to access intelligent insights.',
  );
  await inBothThemes(page, expectAccessible);

  await admin('plan:grant', email);
  await page.reload();
  await page.getByRole('button', { name: 'Open feedback' }).click();
  await expect(panel).toContainText('No entry found for this date. Write something first to get AI feedback.');
  await inBothThemes(page, expectAccessible);
});

test('a year of days that keys can walk, workdays, and lines to copy', async ({
  page,
  context,
  signUp,
  admin,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await write(page, [0, 3, 40, 200]);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/reviews');
  const today = dayOf(new Date());
  const days = new Set([0, 3].map((back) => addDays(today, -back)));
  const { accounted, workdays } = countWorkdays(addDays(today, -6), today, today, days);
  await expect(page.getByRole('heading', { name: `${accounted} of ${workdays} workdays accounted for` })).toBeVisible();
  await expect(page.getByText('4 days with a log')).toBeVisible();

  const year = page.getByRole('grid', { name: /^Logs of the last twelve months/ });
  const cell = (date: Day) => year.getByRole('gridcell', { name: new RegExp(`^${dateLabel(date)}: `) });
  await cell(today).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(cell(addDays(today, -7))).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await expect(cell(addDays(today, -7))).toBeFocused();
  await expect(year.locator('[tabindex="0"]')).toHaveCount(1);
  await expect(cell(addDays(today, -3))).toHaveAccessibleName(`${dateLabel(addDays(today, -3))}: log without a score`);

  await page.getByRole('button', { name: 'Copy' }).click();
  await expect(page.getByRole('status').filter({ hasText: '2 lines copied.' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.split('\n')).toHaveLength(2);
  expect(copied).toMatch(/^- [A-Z][a-z]{2} \d+, \d{4}: Something worth keeping$/m);

  await page.reload();
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
  });
  await page.getByRole('button', { name: 'Copy' }).click();
  await expect(page.getByLabel('Lines to copy')).toHaveValue(/Something worth keeping/);
  await expectAccessible(page);

  await expectNoHorizontalScroll(page);
  await cell(addDays(today, -3)).click();
  await expect(page).toHaveURL(new RegExp(`date=${addDays(today, -3)}$`));
});

test('the newest weeks stay in view when the window changes, unless somebody has gone back', async ({
  page,
  signUp,
  admin,
}) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await write(page, [0]);
  await page.goto('/reviews');
  const today = dayOf(new Date());
  const year = page.getByRole('grid', { name: /^Logs of the last twelve months/ });
  const cell = (date: Day) => year.getByRole('gridcell', { name: new RegExp(`^${dateLabel(date)}: `) });
  const heading = page.getByRole('heading', { name: 'The last twelve months' });
  for (const size of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
    { width: 844, height: 390 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await heading.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await expect(cell(today)).toBeInViewport({ ratio: 1 });
  }
  // A desk shows all of it.
  await page.setViewportSize({ width: 1440, height: 900 });
  const over = () => year.evaluate(({ parentElement: box }) => box!.scrollWidth - box!.clientWidth);
  expect(await over()).toBe(0);
  await page.setViewportSize({ width: 390, height: 844 });
  const old = cell(addDays(today, -300));
  await old.scrollIntoViewIfNeeded();
  await expect(cell(today)).not.toBeInViewport();
  await page.setViewportSize({ width: 360, height: 780 });
  await expect(old).toBeInViewport();
  await expect(cell(today)).not.toBeInViewport();
});

test.describe('when its pictures do not arrive', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_FAILED/ });

  test('the reviews stay, and say so', async ({ page, signUp, admin }) => {
    const { email } = await signUp(page);
    await write(page, [0]);
    await admin('plan:grant', email);
    await page.route('**/assets/review-pictures*', (route) => route.abort());
    await page.goto('/reviews');
    await expect(page.getByText("Couldn't load the charts.")).toBeVisible();
    await expect(page.getByRole('button', { name: 'I agree' })).toBeVisible();
  });
});
