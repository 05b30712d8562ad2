/**
 * The simulated Slack of the sandbox: a person links an account and adds to its journal (docs/specification/capture.md
 * 5).
 */
import type { Page } from '@playwright/test';
import { items } from './support/journal.ts';
import { expect, inBothThemes, test } from './support/test.ts';

/** Sends a message and returns the newest answer. */
async function send(page: Page, message: string, person = 'ada') {
  await page.goto('/sandbox/slack');
  await page.getByLabel('Write as').selectOption(person);
  await page.getByLabel('Message').fill(message);
  await page.getByRole('button', { name: 'Send' }).click();
  const newest = page.getByRole('article').first();
  await expect(newest.locator('pre')).toHaveText(message.trim());
  return newest;
}

test('a person links an account in Slack and adds to its journal', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await expect(await send(page, '/hustle Too early')).toContainText('Your journal is not linked yet.');
  await (await send(page, '/hustle link')).getByRole('link').click();
  await expect(page.getByText('ada in sandbox')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByText(/^Connected\./)).toBeVisible();
  await expect(await send(page, '/hustle Shipped <b>it</b> & more')).toContainText(/Added to \w+ - /);
  await expect(await send(page, '/hustle Of ben', 'ben')).toContainText('not linked yet');
  await expectAccessible(page);
  await page.goto('/journal');
  await expect(items(page)).toHaveText(['Shipped <b>it</b> & more']);

  await page.goto('/settings');
  await page.getByRole('button', { name: 'Manage tokens' }).click();
  await expect(page.getByRole('list', { name: 'Your access tokens' })).toContainText('Slack: ada in sandbox');
  await expect(await send(page, '/hustle unlink')).toContainText('Unlinked.');
  await expect(await send(page, '/hustle Too late')).toContainText('not linked yet');
});
