/** The coach's reviews of a period: generated, failed, as a plot, and with wins. */
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import type { APIRequestContext } from '@playwright/test';
import type { SeededAccount } from '../support/accounts.ts';
import {
  analyseElsewhere,
  failModel,
  GOOD_DAY,
  waitUntilModelHolds,
  releaseModel,
  resetModel,
  test,
} from '../support/coach.ts';
import { daysAgo, log, sessionOf, storeLog } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect } from '../support/test.ts';

test.afterEach(({ request }) => resetModel(request));

test('a failed review counts its attempts, each period has a stored review, and a failed retry keeps it', async ({
  page,
  seedCloser,
  openAs,
  request,
  browser,
  expectAccessible,
}) => {
  const account = await seedCloser(log(...GOOD_DAY));
  for (const back of [1, 2, 12])
    await storeLog(request, account.session, daysAgo(back), log('Sent the offer to two customers'));
  await openAs(page, account, '/reviews');
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  const failure = page.getByRole('region', { name: 'Analysis Error' });
  for (const attempt of [1, 2]) {
    await failModel(request, { reply: 'safety' });
    await generate.click();
    await expect(failure.getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.general);
    await expect(failure.getByText(`Attempt ${attempt}.`)).toBeVisible({ visible: attempt > 1 });
  }
  await inBothThemes(page, expectAccessible);

  await failModel(request, { hold: 'after', after: 3 });
  await generate.click();
  await waitUntilModelHolds(request);
  await expect(page.getByRole('button', { name: 'Analyzing Your Hustle...' })).toHaveAttribute('aria-disabled', 'true');
  await releaseModel(request);
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(result.getByRole('heading', { name: '7-Day Hustle Review' })).toBeVisible();
  await expect(result).toContainText('3 entries analyzed');
  await expect(result).toContainText('Generated just now');
  await expect(result).toContainText('Sandbox model: 3 days');
  await inBothThemes(page, expectAccessible);

  await expect(result).not.toContainText(/\d{4}-\d\d-\d\d/);

  await failModel(request, { status: 500, times: 5 });
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  await expect(failure).toBeVisible();
  await expect(result).toContainText('Sandbox model: 3 days');
  await resetModel(request);
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  await expect(failure).toBeHidden();

  // The charts stay while the other period's review is read.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/rest/v1/kept_reviews*', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(result).toBeHidden();
  await expect(page.getByRole('button', { name: 'Generate 30-Day Analysis' })).toBeDisabled();
  await expect(page.getByRole('heading', { name: 'The last twelve months' })).toBeVisible();
  release();
  await page.getByRole('button', { name: 'Generate 30-Day Analysis' }).click();
  await expect(result).toContainText('4 entries analyzed');

  await test.step('each period shows its stored review, also after a reload and on another device', async () => {
    for (const open of [() => page.getByRole('radio', { name: /Last 7 Days/ }).check(), () => page.reload()]) {
      await open();
      await expect(result.getByRole('heading', { name: '7-Day Hustle Review' })).toBeVisible();
      await expect(result).toContainText('3 entries analyzed');
      await expect(result).toContainText('Generated');
      await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeEnabled();
      await expect(page.getByRole('heading', { name: 'First lines of your logs' })).toBeHidden();
    }
    await page.getByRole('link', { name: 'Back to Journal' }).click();
    const other = await browser.newContext();
    const device = await other.newPage();
    await openAs(device, account, '/reviews');
    const read = device.getByRole('region', { name: 'Analysis', exact: true });
    await expect(read).toContainText('Sandbox model: 3 days');
    await expect(read).toContainText('3 entries analyzed');
    await device.getByRole('radio', { name: /Last 30 Days/ }).check();
    await expect(read).toContainText('Sandbox model: 4 days');
    await inBothThemes(device, expectAccessible);
    await other.close();
  });
});

test('the scores of a period are a plot that arrow keys navigate, and a table', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await seedCloser();
  await storeLog(request, account.session, daysAgo(1), log('A day without a score'));
  await scoreDays(request, account, [2, 0]);
  await openAs(page, account, '/reviews');
  const points = page.getByRole('group', { name: /^HustleScores by day/ }).getByRole('link');
  await expect(points).toHaveCount(2);
  await inBothThemes(page, expectAccessible);
  const { width, height } = page.viewportSize()!;
  await expectNoHorizontalScroll(page);
  await page.setViewportSize({ width, height });
  const table = page.getByRole('table', { name: 'HustleScores by day' });
  await expect(table.getByRole('row')).toHaveCount(3);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(points).toHaveCount(0);
  await expect(table).toBeVisible();
  await expectAccessible(page);
  await expectNoHorizontalScroll(page);
  await page.setViewportSize({ width, height });

  await page.getByRole('button', { name: 'Show as chart' }).click();
  await points.last().focus();
  await page.keyboard.press('ArrowLeft');
  await expect(points.first()).toBeFocused();
  await expect(points.first()).toHaveAccessibleName(/: \d+ of 10, (Strong|Solid|Thin|Poor)$/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`date=${daysAgo(2)}$`));
});

/** Scores days through the API, as another device of the user would. */
async function scoreDays(
  request: APIRequestContext,
  { session }: SeededAccount,
  back: readonly number[],
): Promise<void> {
  for (const days of back) {
    await storeLog(request, session, daysAgo(days), log(`Shipped part ${days} of the billing reconciliation`));
    await analyseElsewhere(request, session, daysAgo(days));
  }
}

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('a cancelled review leaves nothing, and a regenerated one, or its error, is scrolled into view', async ({
    page,
    seedCloser,
    openAs,
    request,
  }) => {
    const account = await seedCloser(log(...GOOD_DAY));
    for (const back of [1, 2, 3, 4, 5, 6])
      await storeLog(request, account.session, daysAgo(back), log('Sent two offers'));
    await openAs(page, account, '/reviews');
    const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
    await failModel(request, { hold: 'before' });
    await generate.click();
    await waitUntilModelHolds(request);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByRole('status').filter({ hasText: AI_MESSAGES.cancelled })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Analysis', exact: true })).toBeHidden();
    await releaseModel(request);

    await generate.click();
    const again = page.getByRole('button', { name: 'Regenerate Analysis' });
    await expect(again).toBeEnabled();
    // Scrolls the button to the lower edge of the window, its lowest clickable position.
    await again.evaluate((button) => button.scrollIntoView({ block: 'end' }));

    await failModel(request, { hold: 'after', after: 3 });
    await again.click();
    await waitUntilModelHolds(request);
    await expect(page.getByRole('region', { name: 'New analysis' }).getByText('Writing...')).toBeInViewport();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByText(AI_MESSAGES.cancelled)).toBeInViewport();
    await expect(again).toBeFocused();
    await releaseModel(request);

    await failModel(request, { status: 500, times: 5 });
    await again.click();
    await expect(page.getByRole('region', { name: 'Analysis Error' }).getByRole('alert')).toBeInViewport({ ratio: 1 });
    await expect(again).toBeFocused();
  });

  test('a tap on the plot selects the day under the finger and offers to open it', async ({
    page,
    seedCloser,
    openAs,
    request,
    expectAccessible,
  }) => {
    const account = await seedCloser(log(...GOOD_DAY));
    await scoreDays(request, account, [11, 10, 9, 8]);
    await openAs(page, account, '/reviews');
    await page.getByRole('radio', { name: /Last 30 Days/ }).check();
    const points = page.getByRole('group', { name: /^HustleScores by day/ }).getByRole('link');
    await expect(points).toHaveCount(4);
    for (const [index, back] of [11, 10, 9, 8].entries()) {
      const dot = points.nth(index).locator('circle').last();
      // Again, if a part above the plot has loaded between the measurement and the tap.
      await expect(async () => {
        await dot.scrollIntoViewIfNeeded();
        const { x, y, width, height } = (await dot.boundingBox())!;
        await page.touchscreen.tap(x + width / 2, y + height / 2);
        await expect(page.getByRole('link', { name: `Open ${shortDate(daysAgo(back))}` })).toBeVisible({
          timeout: 5_000,
        });
      }).toPass();
    }
    await expectAccessible(page);
    await page.getByRole('link', { name: `Open ${shortDate(daysAgo(8))}` }).tap();
    await expect(page).toHaveURL(new RegExp(`date=${daysAgo(8)}$`));
  });
});

test('the wins of a review replace the first lines of the logs, and appear once', async ({
  page,
  seedCloser,
  openAs,
  request,
}) => {
  await openAs(page, await seedCloser(log('Looked at some stuff')), '/reviews');
  await expect(page.getByRole('heading', { name: 'First lines of your logs' })).toBeVisible();
  await expect(page.getByRole('main').getByText('Looked at some stuff')).toHaveCount(1);
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  await expect(page.getByText('No wins found in this period.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'First lines of your logs' })).toBeHidden();
  await expect(page.getByRole('button', { name: 'Copy' })).toBeHidden();

  await storeLog(request, await sessionOf(page), daysAgo(1), log(GOOD_DAY[0]));
  await page.getByRole('button', { name: 'Regenerate Analysis' }).click();
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  await expect(result.getByRole('heading', { name: 'Wins' })).toBeVisible();
  await expect(result.getByRole('term')).toHaveText([shortDate(daysAgo(1))]);
  await expect(result.getByText('**Wins**')).toHaveCount(0);
  await expect(page.getByRole('main').getByText(GOOD_DAY[0])).toHaveCount(1);
  // The other device's day was read: it is counted as well.
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toHaveAccessibleName(/2 entries/);
});
