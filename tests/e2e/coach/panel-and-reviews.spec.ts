/** Rate limits, access that ended elsewhere, the focus and ages, in the panel of a day and in the reviews. */
import { AI_MESSAGES, ANALYSIS_PROBLEMS } from '#domain/coach/coach.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import type { Locator } from '@playwright/test';
import {
  failModel,
  GOOD_DAY,
  waitUntilModelHolds,
  openPanel,
  panel,
  releaseModel,
  resetModel,
  test,
  withdrawConsent,
} from '../support/coach.ts';
import { log, sessionOf, storeLog, today } from '../support/journal.ts';
import { inBothThemes, expect } from '../support/test.ts';
import { signInOverlay } from '../support/sign-in.ts';

test.afterEach(({ request }) => resetModel(request));

/** Records the texts of live regions that change in `place`. Returns a function that reads them. */
async function observeAnnouncements(place: Locator): Promise<() => Promise<string[]>> {
  const seen = await place.evaluateHandle((element) => {
    const texts: string[] = [];
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const changed = target instanceof Element ? target : target.parentElement;
        const region = changed?.closest('[role=status], [role=alert], [aria-live]');
        if (region) texts.push(region.textContent);
      }
    }).observe(element, { childList: true, characterData: true, attributes: true, subtree: true });
    return texts;
  });
  return () => seen.evaluate((texts) => texts);
}

test('a rate limit disables the button for the time of the wait and leaves the focus on it', async ({
  page,
  signUpCloser,
  request,
}) => {
  // More faults than requests. The server does not retry, because the wait of 40 seconds is too long.
  const limit = { status: 429, retryDelay: 40, times: 5 };
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await failModel(request, limit);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByRole('alert')).toContainText(ANALYSIS_PROBLEMS.rate);
  await expect(panel(page)).toContainText(/You can try again in \d+ s/);
  await expect(panel(page).getByRole('button', { name: 'Try Again' })).toBeDisabled();

  await page.goto('/reviews');
  await failModel(request, limit);
  const generate = page.getByRole('button', { name: 'Generate 7-Day Analysis' });
  // The button is disabled until the entries are counted, and `press` does not wait for that.
  await expect(generate).toBeEnabled();
  await generate.press('Enter');
  await expect(page.getByText(/You can try again in \d+ s/)).toBeVisible();
  await expect(generate).toBeDisabled();
  await expect(generate).toBeFocused();
});

test('consent, session or plan that ended elsewhere is asked for again', async ({
  page,
  signUpCloser,
  admin,
  request,
  expectAccessible,
}) => {
  const { password } = await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).focus();
  await test.step('consent', async () => {
    await withdrawConsent(page, request);
    await page.keyboard.press('Enter');
    await expect(panel(page).getByRole('button', { name: 'I agree' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await page.keyboard.press('Enter');
    await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await page.keyboard.press('Enter');
    await expect(panel(page).getByText('Up to date')).toBeVisible();
    await expect(panel(page).getByRole('button', { name: 'Force Refresh' })).toBeFocused();
  });

  await test.step('session', async () => {
    const { access_token } = await sessionOf(page);
    const FEEDBACK = /\/functions\/v1\/ai-feedback$/;
    await page.route(FEEDBACK, (route) =>
      route.fulfill({ status: 401, json: { code: 'UNAUTHORIZED_INVALID_JWT', success: false, error: 'Invalid JWT' } }),
    );
    const ended = await request.post('/auth/v1/logout?scope=global', {
      headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${access_token}` },
    });
    expect(ended.ok()).toBe(true);
    await page.keyboard.press('Enter');
    const signIn = signInOverlay(page);
    await expect(signIn.getByLabel('Password', { exact: true })).toBeVisible();
    await expect(page.getByText('Invalid JWT')).toBeHidden();
    await page.unroute(FEEDBACK);
    await signIn.getByLabel('Password', { exact: true }).fill(password);
    await signIn.getByLabel('Password', { exact: true }).press('Enter');
    await expect(signIn).toHaveCount(0);
    await expect(panel(page).getByRole('alert')).toBeHidden();
  });

  await test.step('plan', async () => {
    const { user } = await sessionOf(page);
    await admin('plan:revoke', user.email);
    await panel(page)
      .getByRole('button', { name: /^(Force Refresh|Try Again|Refresh Analysis)$/ })
      .press('Enter');
    await expect(panel(page)).toContainText(AI_MESSAGES.premium);
    await expect(panel(page).getByRole('button', { name: 'Upgrade to Closer' })).toBeFocused();
    await expect(panel(page).getByRole('alert')).toBeHidden();
    await inBothThemes(page, expectAccessible);
  });
});

test('the focus moves with the buttons of the panel and the reviews, by keyboard alone', async ({
  page,
  accounts,
  openAs,
  request,
}) => {
  const account = await accounts.create();
  await storeLog(request, account.session, today(), log(...GOOD_DAY));
  await accounts.upgrade(account);
  await openAs(page, account);
  const press = async (name: string) => {
    await expect(page.getByRole('button', { name })).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await page.getByRole('button', { name: 'Open feedback' }).focus();
  await press('Open feedback');
  await expect(panel(page).getByRole('button', { name: 'Close' })).toBeFocused();
  await panel(page).getByRole('button', { name: 'I agree' }).focus();
  await press('I agree');
  await failModel(request, { hold: 'before' });
  await press('Get Fresh Analysis');
  await waitUntilModelHolds(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await expect(panel(page).getByRole('button', { name: 'Get Fresh Analysis' })).toBeFocused();
  await releaseModel(request);

  await withdrawConsent(page, request);
  await page.goto('/reviews');
  await page.getByRole('button', { name: 'I agree' }).focus();
  await press('I agree');
  await failModel(request, { hold: 'before' });
  await press('Generate 7-Day Analysis');
  await waitUntilModelHolds(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await releaseModel(request);
  await press('Generate 7-Day Analysis');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await failModel(request, { hold: 'before' });
  await press('Regenerate Analysis');
  await waitUntilModelHolds(request);
  await page.keyboard.press('Tab');
  await press('Cancel');
  await expect(page.getByRole('button', { name: 'Regenerate Analysis' })).toBeFocused();
  await releaseModel(request);
});

test('the age of an analysis is updated without an announcement to screen readers', async ({ page, signUpCloser }) => {
  await page.clock.install();
  await signUpCloser(...GOOD_DAY);
  await openPanel(page);
  await panel(page).getByRole('button', { name: 'Get Fresh Analysis' }).click();
  await expect(panel(page).getByText('Up to date · Just now')).toBeVisible();
  await expect(panel(page).getByText('Feedback is ready')).toBeAttached();
  const inPanel = await observeAnnouncements(panel(page));
  // Again, if the page has not yet set its timer for the next minute.
  await expect(async () => {
    await page.clock.fastForward('02:00');
    await expect(panel(page).getByText(/^Up to date · \dm ago$/)).toBeVisible({ timeout: 5_000 });
  }).toPass();
  expect(await inPanel()).toEqual([]);

  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
  const result = page.getByRole('region', { name: 'Analysis', exact: true });
  // The page's clock is minutes ahead of the server's.
  await expect(result).toContainText(/Generated \dm ago/);
  await expect(page.getByText('The analysis is ready.')).toBeAttached();
  const inReviews = await observeAnnouncements(page.getByRole('main'));
  await expect(async () => {
    await page.clock.fastForward('01:01:00');
    await expect(result).toContainText(/Generated \dh ago/, { timeout: 5_000 });
  }).toPass();
  expect(await inReviews()).toEqual([]);
});
