/** The screen "Hustle Reviews": the offer for a free user, and the periods, charts and lines for a premium user. */
import { addDays, dateLabel, dayOf, type Day } from '#domain/day/day.ts';
import { DEFAULT_WORKDAYS, countWorkdays } from '#domain/day/time-off.ts';
import type { APIRequestContext } from '@playwright/test';
import { daysAgo, editor, expectSaved, headersOf, log, storeLog, type Session } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, inForcedColorsAndPrint, expect, test } from '../support/test.ts';

/** Stores a log for each of these days ago through the API. */
async function write(request: APIRequestContext, session: Session, back: readonly number[]): Promise<void> {
  const rows = back.map((days) => ({
    user_id: session.user.id,
    date: addDays(dayOf(new Date()), -days),
    content: '<p>Something worth keeping</p>',
  }));
  const answer = await request.post('/rest/v1/entries', { headers: headersOf(session), data: rows });
  expect(answer.status(), await answer.text()).toBe(201);
}

test.describe('the reviews page', () => {
  test.use({ expectedErrors: /Failed to load resource: net::ERR_FAILED/ });

  test('waits for the plan, offers a free user the upgrade, and counts the entries of a premium user even if the charts are lost', async ({
    page,
    accounts,
    openAs,
    request,
    expectAccessible,
  }) => {
    const account = await accounts.create();
    await test.step('a Dabbler', async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route('**/rest/v1/profiles*', async (route) => {
        await released;
        await route.continue();
      });
      await openAs(page, account, '/reviews');
      await expect(page.getByRole('status').filter({ hasText: 'Loading...' })).toBeVisible();
      release();
      await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
      await page.unroute('**/rest/v1/profiles*');
      await expect(
        page.getByText('$24/year • Unlimited logs • AI feedback • Trend analysis • Priority support'),
      ).toBeVisible();
      await inBothThemes(page, expectAccessible);
      await expectNoHorizontalScroll(page);
    });

    await test.step('a Closer with entries, whose page cannot load the charts', async () => {
      await accounts.upgrade(account);
      await write(request, account.session, [1, 6, 7, 29]);
      await page.route('**/assets/review-charts*', (route) => route.abort());
      await page.reload();
      await expect(page.getByText("Couldn't load the charts.")).toBeVisible();
      await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeChecked();
      await expect(page.getByText('2 entries')).toBeVisible();
      await expect(page.getByText('4 entries').first()).toBeVisible();
      await page.getByRole('button', { name: 'I agree' }).click();
      await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeEnabled();
      await page.getByRole('radio', { name: /Last 30 Days/ }).check();
      await expect(page.getByRole('button', { name: 'Generate 30-Day Analysis' })).toBeEnabled();
      await inBothThemes(page, expectAccessible);
      await inForcedColorsAndPrint(page, expectAccessible);
    });
  });
});

test('the reviews count logs that were written since, here or on another device, without a reload', async ({
  page,
  request,
  accounts,
  openAs,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  await openAs(page, account);
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
  await expect(page.getByText('No entries found for the selected period')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeDisabled();

  await toJournal();
  await editor(page).click();
  await page.keyboard.type('Shipped the billing');
  // The user leaves before the save, so the server's response does not contain the typed text.
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
  await storeLog(request, account.session, daysAgo(1), log('Written on a phone'));
  await toReviews();
  await expect(entries).toHaveAccessibleName(/2 entries/);
  await expect(page.getByText('Written on a phone')).toBeVisible();
});

test('the year of days is navigated by keys, and lines are copied', async ({
  page,
  context,
  request,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  await write(request, account.session, [0, 3, 40, 200]);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openAs(page, account, '/reviews');
  const today = dayOf(new Date());
  const days = new Set([0, 3, 40].map((back) => addDays(today, -back)));
  const { accounted, workdays } = countWorkdays(addDays(today, -6), today, today, days, {
    timeOff: [],
    workdays: DEFAULT_WORKDAYS,
  });
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
  await inBothThemes(page, expectAccessible);

  await expectNoHorizontalScroll(page);
  await cell(addDays(today, -3)).click();
  await expect(page).toHaveURL(new RegExp(`date=${addDays(today, -3)}$`));
});

test('the newest weeks stay in view when the window changes, unless the user has scrolled back', async ({
  page,
  request,
  accounts,
  openAs,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  await write(request, account.session, [0]);
  await openAs(page, account, '/reviews');
  const today = dayOf(new Date());
  const year = page.getByRole('grid', { name: /^Logs of the last twelve months/ });
  const cell = (date: Day) => year.getByRole('gridcell', { name: new RegExp(`^${dateLabel(date)}: `) });
  const heading = page.getByRole('heading', { name: 'The last twelve months' });
  // Scrolls the page again each time, because a part above that loads later moves the map down.
  const expectTodayInView = () =>
    expect(async () => {
      await heading.evaluate((element) => element.scrollIntoView({ block: 'start', inline: 'nearest' }));
      await expect(cell(today)).toBeInViewport({ ratio: 1, timeout: 500 });
    }).toPass({ timeout: 30_000 });
  for (const size of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
    { width: 844, height: 390 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await expectTodayInView();
  }
  // A wide window shows the whole year.
  await page.setViewportSize({ width: 1440, height: 900 });
  const over = () => year.evaluate(({ parentElement: box }) => box!.scrollWidth - box!.clientWidth);
  await expect.poll(over).toBe(0);
  await page.setViewportSize({ width: 390, height: 844 });
  // Waits until the map has adapted its scroll position to the new width, which would undo an earlier scroll.
  await expectTodayInView();
  const old = cell(addDays(today, -300));
  await old.scrollIntoViewIfNeeded();
  await expect(cell(today)).not.toBeInViewport();
  await page.setViewportSize({ width: 360, height: 780 });
  await expect(old).toBeInViewport();
  await expect(cell(today)).not.toBeInViewport();
});
