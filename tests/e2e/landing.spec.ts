/** The landing page: what it says, where it leads, and the line that becomes the first log. */
import { expectNoHorizontalScroll, inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

const LINE = 'What have you done today?';

test('says what the product is, what it costs and where to begin', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1, name: 'Done anything worth a damn today?' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Why Hustle Forge?' })).toBeVisible();
  for (const card of ['Minimalistic', 'NO BS Clutter', 'AI-driven Feedback', 'Dabbler', /^Closer/]) {
    await expect(page.getByRole('heading', { name: card })).toBeVisible();
  }
  await expect(
    page.getByText("Blood in the Game: Not a feature—just fact: $24 proves you're not screwing around."),
  ).toBeVisible();
  for (const name of ['Sign Up', 'Start Logging', 'Start Free', 'Upgrade Now']) {
    await expect(page.getByRole('link', { name })).toHaveAttribute('href', '/signup');
  }
  await expect(page.getByRole('link', { name: 'Login' })).toHaveAttribute('href', '/login');
  await expect(page.getByRole('link', { name: 'Terms of Service' })).toHaveAttribute('href', '/terms-and-conditions');
  await expect(page.getByRole('link', { name: 'Privacy Policy' })).toHaveAttribute('href', '/privacy-policy');
});

test('the line that a visitor types is the first line of their first log', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel(LINE).fill('Fixed the door that never closed');
  await expect(page.getByText('Kept for your first log.')).toBeVisible();
  await page.reload();
  await expect(page.getByLabel(LINE)).toHaveValue('Fixed the door that never closed');

  await page.getByLabel(LINE).press('Enter');
  await expect(page).toHaveURL('/signup');
  await page.getByLabel('Full name').fill('Ada Smith');
  await page.getByLabel('Email address').fill(`${crypto.randomUUID()}@example.com`);
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Create account' }).click();

  await expect(page).toHaveURL('/journal');
  await expect(page.locator('.ProseMirror li')).toHaveText('Fixed the door that never closed');
});

test('a line that somebody left behind is gone when they sign out', async ({ page, signUp }) => {
  await signUp(page);
  await expect(page.locator('.ProseMirror')).toBeVisible();
  await page.evaluate(() => localStorage.setItem('hustle-forge:first-line', 'Not for the next person'));
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page).toHaveURL('/');
  await expect(page.getByLabel(LINE)).toHaveValue('');
});

test('somebody who is signed in goes straight to the journal', async ({ page, signUp }) => {
  await signUp(page);
  await page.goto('/');
  await expect(page).toHaveURL('/journal');
});

test('is accessible in both themes and fits a narrow phone', async ({ page, expectAccessible }) => {
  await page.goto('/');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('reads as it does with it', async ({ page }) => {
    await page.goto('/');
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Start Logging' })).toBeVisible();
  });
});
