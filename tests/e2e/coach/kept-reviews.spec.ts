/** Reviews that stay, reviews of a quarter and a year, and the trend of the scores. */
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { addDays } from '#domain/day/day.ts';
import { monthsOfRange, rangeOf } from '#domain/plan/review-period.ts';
import {
  analyseElsewhere,
  failModel,
  openPanel,
  panel,
  releaseModel,
  resetModel,
  test,
  waitUntilModelHolds,
} from '../support/coach.ts';
import { daysAgo, headersOf, log, sessionOf, today } from '../support/journal.ts';
import { expectNoHorizontalScroll, expect, inBothThemes } from '../support/test.ts';

const LAST_YEAR = rangeOf('year', today(), 1);
test.afterEach(({ request }) => resetModel(request));

const TEXT = 'Shipped the importer to all 40 customers before noon';

test('a year is read month by month with progress, is kept after its days change, and goes when it is deleted', async ({
  page,
  signUp,
  request,
  expectAccessible,
}) => {
  const logs = Object.fromEntries(monthsOfRange(LAST_YEAR).map(({ from }) => [addDays(from, 9), log(TEXT)]));
  await signUp(page, { path: '/reviews', isCloser: true, logs: { ...logs, [today()]: log(TEXT) } });
  await page.getByRole('button', { name: 'I agree' }).click();
  await page.getByRole('radio', { name: /^Year/ }).check();
  await page.getByRole('button', { name: 'Earlier year' }).click();
  await expect(page.getByText('Counts as up to 13 analyses')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  for (let month = 0; month < 2; month += 1) await failModel(request, {});
  await failModel(request, { hold: 'after' });
  await page.getByRole('button', { name: 'Generate Year Analysis' }).click();
  await waitUntilModelHolds(request);
  await expect(page.getByText(/^Reading March \d{4}, month 3 of 12\.\.\.$/).first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await releaseModel(request);
  await expect(page.getByText(AI_MESSAGES.cancelledBetweenMonths)).toBeVisible();

  await page.getByRole('button', { name: 'Generate Year Analysis' }).click();
  const year = LAST_YEAR.from.slice(0, 4);
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(result).toContainText(`${year} Hustle Review`);
  await expect(result).toContainText('Sandbox model: 12 months summarized');
  await expect(result).toContainText('12 entries analyzed');

  const kept = page.getByRole('region', { name: 'Kept reviews' });
  await expect(kept.getByText(dateRangeLabel(LAST_YEAR.from, LAST_YEAR.to))).toBeVisible();
  await page.goto(`/journal?date=${addDays(LAST_YEAR.from, 9)}`);
  await page.locator('.ProseMirror[contenteditable=true] li').first().click();
  await page.keyboard.type('More. ');
  await expect(page.getByRole('status').filter({ hasText: /^Saved / })).toBeVisible();
  await page.goto('/reviews');
  await kept.getByText(`${year} Hustle Review`).click();
  await expect(kept).toContainText('Written before later changes');
  await expect(kept).toContainText('Sandbox model: 12 months summarized');
  await inBothThemes(page, expectAccessible);
  await kept.getByRole('button', { name: 'Delete this review' }).click();
  await kept.getByRole('button', { name: 'Delete for good' }).click();
  await expect(kept).toHaveCount(0);
});

test('a review that was deleted elsewhere is said to be gone', async ({ page, signUp, expectAccessible }) => {
  await signUp(page, { path: '/reviews', isCloser: true, logs: { [today()]: log(TEXT) } });
  await page.getByRole('button', { name: 'I agree' }).click();
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const kept = page.getByRole('region', { name: 'Kept reviews' });
  await expect(kept.getByRole('listitem')).toHaveCount(1);
  const session = await sessionOf(page);
  const path = `/rest/v1/reviews?user_id=eq.${session.user.id}`;
  expect(await (await page.request.delete(path, { headers: headersOf(session) })).json()).toHaveLength(1);
  await kept.getByText('7-Day Hustle Review').click();
  await expect(kept.getByText('This review is not there. It may have been deleted.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
});

test('a plan that has ended keeps the newest review', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page, { path: '/reviews', isCloser: true, logs: { [today()]: log(TEXT) } });
  await page.getByRole('button', { name: 'I agree' }).click();
  for (const period of ['7-Day', '30-Day']) {
    await page.getByRole('radio', { name: `Last ${period.replace('-Day', '')} Days` }).check();
    await page.getByRole('button', { name: `Generate ${period} Analysis` }).click();
    await expect(page.getByRole('region', { name: 'Analysis', exact: true })).toContainText(`${period} Hustle Review`);
  }
  const kept = page.getByRole('region', { name: 'Kept reviews' });
  await expect(kept.getByRole('listitem')).toHaveCount(2);
  await admin('plan:revoke', email);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Premium Feature' })).toBeVisible();
  await expect(kept.getByRole('listitem')).toHaveText([/30-Day Hustle Review/]);
  await kept.getByText('30-Day Hustle Review').click();
  await expect(kept).toContainText('Sandbox model');
  await expect(kept).toContainText('Your newest review stays.');
});

test('scores have a sentence of trend above their plot, and the last seven stand beside a score', async ({
  page,
  request,
  seedCloser,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const account = await seedCloser();
  for (let back = 8; back >= 0; back -= 1) {
    const items = back > 4 ? ['Looked at some stuff', 'Read things'] : [TEXT, `${TEXT} again`, `${TEXT} at last`];
    await accounts.writeLog(account, daysAgo(back), log(...items));
    await analyseElsewhere(request, account.session, daysAgo(back));
  }
  await openAs(page, account, '/reviews');
  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(page.getByText(/^Your scores rose from about \d to about \d since \w{3} \d+\.$/)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.goto(`/journal?date=${today()}`);
  await openPanel(page);
  await expect(panel(page).getByText('Last 7 scores')).toBeVisible();
  await expect(
    panel(page)
      .getByRole('listitem')
      .filter({ hasText: /^\w{3} \d+: \d+$/ }),
  ).toHaveCount(7);
  await inBothThemes(page, expectAccessible);
});
