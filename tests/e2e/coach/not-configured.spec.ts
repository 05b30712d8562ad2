/** A server without a coach: the screens of the coach say that it is unavailable, and no offer includes it. */
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { UPGRADE_OFFERS } from '#domain/plan/upgrade.ts';
import type { Page } from '@playwright/test';
import { offer, openOffer } from '../support/billing.ts';
import { openPanel, panel, test } from '../support/coach.ts';
import { log, storeLog, today } from '../support/journal.ts';
import { inBothThemes, expect } from '../support/test.ts';

const WITHOUT_COACH = [
  'Unlimited history',
  'Export of all entries',
  'Editor font options',
  'The document for your yearly review',
  'Priority support',
];

/** Words that sell the coach. */
const COACH_PITCH = /\bAI feedback|intelligent insights|HustleScore|trend analysis|pattern recognition/i;

/** Serves the pages as a server without a coach does. */
async function withoutCoach(page: Page): Promise<void> {
  await page.route(/\/(journal|reviews|profile)(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const sent = await answer.text();
    const html = sent.replace('&quot;coach&quot;:true', '&quot;coach&quot;:false');
    expect(html).not.toBe(sent);
    await route.fulfill({ response: answer, body: html });
  });
}

async function expectOfferWithoutCoach(page: Page): Promise<void> {
  await expect(offer(page).getByRole('heading', { level: 3 })).toHaveText(UPGRADE_OFFERS.default.title);
  await expect(offer(page).getByRole('listitem')).toHaveText(WITHOUT_COACH);
  await expect(offer(page)).toContainText(AI_MESSAGES.notConfigured);
  await expect(offer(page).getByRole('button', { name: 'Upgrade with PayPal' })).toBeEnabled();
  await page.keyboard.press('Escape');
  await expect(offer(page)).toHaveCount(0);
}

test('without a coach, panel and reviews tell a premium user that it is not set up', async ({
  page,
  seedCloser,
  openAs,
  request,
  expectAccessible,
}) => {
  const account = await seedCloser();
  await withoutCoach(page);
  await openAs(page, account);
  await openPanel(page);
  await expect(panel(page)).toContainText(AI_MESSAGES.notConfigured);
  await expect(panel(page)).not.toContainText(AI_MESSAGES.noEntry);
  await inBothThemes(page, expectAccessible);
  await storeLog(request, account.session, today(), log('Sent the offer to two customers'));
  await page.goto('/reviews');
  await expect(page.getByText(AI_MESSAGES.notConfigured)).toBeVisible();
  await expect(page.getByText('No scores in this period.', { exact: true })).toBeVisible();
});

test('without a coach, panel, menu and reviews offer a free user no coach', async ({ page, signUp }) => {
  await withoutCoach(page);
  await signUp(page);
  await openPanel(page);
  await expect(panel(page)).toContainText(AI_MESSAGES.notConfigured);
  await expect(panel(page)).not.toContainText(COACH_PITCH);
  await panel(page).getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expectOfferWithoutCoach(page);
  await openOffer(page);
  await expectOfferWithoutCoach(page);
  await page.goto('/reviews');
  await expect(page.getByRole('main')).toContainText(AI_MESSAGES.notConfigured);
  await expect(page.getByRole('main')).not.toContainText(COACH_PITCH);
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expectOfferWithoutCoach(page);
});

test('without a coach, a renewal does not include it', async ({ page, accounts, openAs, admin }) => {
  const account = await accounts.create();
  await withoutCoach(page);
  await admin('plan:grant', account.person.email, '--days', '10');
  await openAs(page, account, '/profile');
  await page.getByRole('button', { name: 'Renew for another year' }).click();
  const renewal = page.getByRole('dialog', { name: 'Renew Closer' });
  await expect(renewal.getByRole('listitem')).toHaveText(WITHOUT_COACH);
  await expect(renewal).toContainText(AI_MESSAGES.notConfigured);
});
