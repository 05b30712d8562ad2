/** A server without a coach: every screen that speaks of it says so, and asks nobody to do what leads nowhere. */
import { AI_MESSAGES } from '#domain/coach.ts';
import type { Page } from '@playwright/test';
import { openPanel, panel, test } from '../support/coach-story.ts';
import { log, sessionOf, storeLog, today } from '../support/journal-story.ts';
import { inBothThemes } from '../support/story-themes.ts';
import { expect } from '../support/story.ts';

/** The page as such a server sends it. */
async function withoutCoach(page: Page): Promise<void> {
  await page.route(/\/(journal|reviews)(\?|$)/, async (route) => {
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
  await inBothThemes(page, expectAccessible);
  await page.goto('/reviews');
  await expect(page.getByRole('main')).toContainText(AI_MESSAGES.notConfigured);
  await inBothThemes(page, expectAccessible);
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
