/** The shortest proof that everything is wired together: pages, styles, headers, account, journal. */
import { expect, test } from '../support/story.ts';

test('a visitor finds the landing page and reaches the sign-up form', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.getByRole('link', { name: 'Start Logging' }).first().click();
  await expect(page).toHaveURL('/signup');
  await expect(page.getByLabel('Email address')).toBeVisible();
});

test('somebody who has signed up can write at once', async ({ page, signUp }) => {
  await signUp(page);
  await expect(page.locator('.ProseMirror')).toBeEditable();
});

test('an address that does not exist leads home', async ({ page }) => {
  await page.goto('/no-such-page');
  await expect(page).toHaveURL('/');
});
