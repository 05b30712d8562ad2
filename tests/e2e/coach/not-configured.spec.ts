/** A server without a coach: every screen that speaks of it says so, and asks nobody to do what leads nowhere. */
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { UPGRADE_OFFERS } from '#domain/plan/upgrade.ts';
import type { Page } from '@playwright/test';
import { offer, openOffer } from '../support/billing.ts';
import { openPanel, panel, test } from '../support/coach.ts';
import { log, sessionOf, storeLog, today } from '../support/journal.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect } from '../support/test.ts';

const WITHOUT_COACH = ['Unlimited history', 'Export of all entries', 'Editor font options', 'Priority support'];

/** Words of the offer for what is not there. */
const SOLD = /\bAI feedback|intelligent insights|HustleScore|trend analysis|pattern recognition/i;

/** The page as such a server sends it. */
async function withoutCoach(page: Page): Promise<void> {
  await page.route(/\/(journal|reviews|profile)(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const sent = await answer.text();
    const html = sent.replace('&quot;coach&quot;:true', '&quot;coach&quot;:false');
    expect(html).not.toBe(sent);
    await route.fulfill({ response: answer, body: html });
  });
}

test('a Dabbler is told before an upgrade for it', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await withoutCoach(page);
  await page.goto('/journal');
  await openPanel(page);
  await expect(panel(page)).toContainText(AI_MESSAGES.notConfigured);
  await expect(panel(page)).not.toContainText(SOLD);
  await inBothThemes(page, expectAccessible);
  await page.goto('/reviews');
  await expect(page.getByRole('main')).toContainText(AI_MESSAGES.notConfigured);
  await expect(page.getByRole('main')).not.toContainText(SOLD);
  await inBothThemes(page, expectAccessible);
});

test('an upgrade is not sold with it, wherever it is opened', async ({ page, signUp, admin, expectAccessible }) => {
  const { email } = await signUp(page);
  await withoutCoach(page);
  const ways = {
    '/journal': async () => {
      await openPanel(page);
      await panel(page).getByRole('button', { name: 'Upgrade to Closer' }).click();
    },
    '/reviews': () => page.getByRole('button', { name: 'Upgrade to Closer' }).click(),
    '/journal?': () => openOffer(page),
  };
  for (const [path, open] of Object.entries(ways)) {
    await page.goto(path);
    await open();
    await expect(offer(page).getByRole('heading', { level: 3 })).toHaveText(UPGRADE_OFFERS.default.title);
    await expect(offer(page).getByRole('listitem')).toHaveText(WITHOUT_COACH);
    await expect(offer(page)).toContainText(AI_MESSAGES.notConfigured);
    await expect(offer(page).getByRole('button', { name: 'Upgrade with PayPal' })).toBeEnabled();
  }
  await inBothThemes(page, expectAccessible);

  // Nor is another year of it.
  await admin('plan:grant', email, '--days', '10');
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Renew for another year' }).click();
  const renewal = page.getByRole('dialog', { name: 'Renew Closer' });
  await expect(renewal.getByRole('listitem')).toHaveText(WITHOUT_COACH);
  await expect(renewal).toContainText(AI_MESSAGES.notConfigured);
});

test('a Closer is not sent to write for it', async ({ page, signUpCloser, request, expectAccessible }) => {
  await signUpCloser();
  await withoutCoach(page);
  await page.goto('/journal');
  await openPanel(page);
  await expect(panel(page)).toContainText(AI_MESSAGES.notConfigured);
  await expect(panel(page)).not.toContainText(AI_MESSAGES.noEntry);
  await inBothThemes(page, expectAccessible);

  await storeLog(request, await sessionOf(page), today(), log('Sent the offer to two customers'));
  await page.goto('/reviews');
  await expect(page.getByText(AI_MESSAGES.notConfigured)).toBeVisible();
  await expect(page.getByText('No scores in this period.', { exact: true })).toBeVisible();
  await inBothThemes(page, expectAccessible);
});
