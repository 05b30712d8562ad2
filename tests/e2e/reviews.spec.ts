/** Hustle Reviews: the pitch, and what a Closer sees. */
import { addDays, dayOf } from '#domain/day.ts';
import { PUBLISHABLE_KEY } from '#server/config.ts';
import type { Page } from '@playwright/test';
import { expectNoSideways, inBothThemes } from '../support/story-themes.ts';
import { expect, test } from '../support/story.ts';

/** Writes a log for each of these days ago, through the API. */
async function write(page: Page, daysAgo: readonly number[]): Promise<void> {
  const session = await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => name.endsWith('-auth-token'))!;
    return JSON.parse(localStorage.getItem(key)!) as { access_token: string; user: { id: string } };
  });
  const rows = daysAgo.map((days) => ({
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
  await expectNoSideways(page);
});

test('a Closer sees how much each period holds', async ({ page, signUp, admin, expectAccessible }) => {
  const { email } = await signUp(page);
  await write(page, [1, 6, 7, 29]);
  await admin('plan:grant', email);
  await page.goto('/reviews');
  await expect(page.getByRole('radio', { name: /Last 7 Days/ })).toBeChecked();
  await expect(page.getByText('2 entries')).toBeVisible();
  await expect(page.getByText('4 entries')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Generate 7-Day Analysis' })).toBeVisible();
  await page.getByRole('radio', { name: /Last 30 Days/ }).check();
  await expect(page.getByRole('button', { name: 'Generate 30-Day Analysis' })).toBeVisible();
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
