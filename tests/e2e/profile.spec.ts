/** The profile page: what the plan is, and changing name, address and password. */
import type { Page } from '@playwright/test';
import { waitForMailedCode, waitForMailedLink } from '../../scripts/screenshots/sandbox-mail.ts';
import { headersOf, sessionOf } from './support/journal.ts';
import { expectSignsIn } from './support/session.ts';
import { expectNoHorizontalScroll, inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

const update = (page: Page) => page.getByRole('button', { name: 'Update Profile' }).click();

test('a Dabbler is told what is open and can go for more', async ({ page, signUp }) => {
  await signUp(page);
  await page.goto('/profile');
  await expect(page.getByText('Subscription Details')).toBeVisible();
  await expect(page.getByText('Dabbler', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
  await expect(page.getByRole('dialog', { name: 'Premium Feature' })).toBeVisible();
  await page.getByRole('button', { name: 'Maybe Later' }).click();
  await expect(page.getByRole('button', { name: 'Upgrade to Closer' })).toBeFocused();
});

test('a Closer sees until when', async ({ page, signUp, admin }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email, '--days', '365');
  await page.goto('/profile');
  await expect(page.getByText("You're a Closer")).toBeVisible();
  await expect(page.getByText('Valid Until')).toBeVisible();
  await expect(page.getByText(/^[A-Z][a-z]+ \d+, \d{4}$/)).toBeVisible();
});

test('a new name shows at once in the menu', async ({ page, signUp }) => {
  await signUp(page);
  await page.goto('/profile');
  await page.getByLabel('Full Name').fill('Grace Brown');
  await update(page);
  await expect(page.getByRole('status').filter({ hasText: 'Profile updated successfully' })).toBeVisible();
  await page.getByRole('link', { name: 'Back to Journal' }).click();
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Grace Brown');
});

test('says what is wrong, and that nothing changed', async ({ page, signUp }) => {
  const { name } = await signUp(page);
  await page.goto('/profile');
  await page.getByLabel('Full Name').fill('   ');
  await update(page);
  await expect(page.locator('[name="name"]:invalid')).toBeFocused();
  await page.getByLabel('Full Name').fill(name);
  await update(page);
  await expect(page.getByRole('alert').filter({ hasText: 'No changes to save' })).toBeVisible();
  await page.getByLabel('New Password', { exact: true }).fill('a new horse');
  await update(page);
  await expect(page.getByRole('alert').filter({ hasText: 'Passwords do not match' })).toBeVisible();
  await page.getByLabel('New Password', { exact: true }).fill('12345');
  await page.getByLabel('Confirm New Password').fill('12345');
  await update(page);
  await expect(
    page.getByRole('alert').filter({ hasText: 'Password must be at least 6 characters long' }),
  ).toBeVisible();
});

test('a new password is taken, its fields are emptied, and it signs in', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  await page.goto('/profile');
  await page.getByLabel('New Password', { exact: true }).fill('a new horse');
  await page.getByLabel('Confirm New Password').fill('a new horse');
  await update(page);
  await expect(page.getByText('Profile updated successfully')).toBeVisible();
  await expect(page.getByLabel('New Password', { exact: true })).toHaveValue('');

  await expectSignsIn(page, email, 'a new horse');
});

test('a new address counts once both mailboxes have said yes', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  const wanted = `new-${email}`;
  await page.goto('/profile');
  await page.getByLabel('Email Address').fill(wanted);
  await update(page);
  await expect(page.getByText('Profile updated successfully')).toBeVisible();
  await expect(page.getByText(`Your address changes to ${wanted}`)).toBeVisible();

  await page.goto(await waitForMailedLink(page, email, 'email_change'));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('Confirmed. Now open the link that we sent to your other address.')).toBeVisible();
  await page.goto(await waitForMailedLink(page, wanted, 'email_change'));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Your email address is changed.' })).toBeVisible();
  await expect(page.getByLabel('Email Address')).toHaveValue(wanted);
});

test('a new address counts once the codes of both mails were typed', async ({ page, signUp, expectAccessible }) => {
  const { email } = await signUp(page);
  const wanted = `new-${email}`;
  await page.goto('/profile');
  await page.getByLabel('Email Address').fill(wanted);
  await update(page);
  const type = async (address: string): Promise<void> => {
    const code = page.getByLabel(`Code sent to ${address}`);
    await code.fill(await waitForMailedCode(page, address));
    await code.press('Enter');
  };
  await type(email);
  await expect(page.getByText('Confirmed. Now enter the code that we sent to your other address.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await type(wanted);
  await expect(page.getByLabel('Email Address')).toHaveValue(wanted);
  await expect(page.getByText('Your address changes to')).toHaveCount(0);
});

for (const { how, end } of [
  {
    how: 'ended on the server',
    end: async (page: Page) => {
      const headers = headersOf(await sessionOf(page));
      expect((await page.request.post('/auth/v1/logout?scope=global', { headers })).ok()).toBe(true);
    },
  },
  { how: 'gone from the browser', end: (page: Page) => page.evaluate(() => localStorage.clear()) },
]) {
  test(`a session that is ${how} asks for the password over the profile`, async ({ page, signUp }) => {
    const { password } = await signUp(page);
    await page.goto('/profile');
    await page.getByLabel('Full Name').fill('Grace Jones');
    await end(page);
    await update(page);
    const overlay = page.getByRole('dialog', { name: 'Sign in again' });
    await expect(overlay).toBeVisible();
    await expect(page.getByText('No user is signed in')).toBeVisible();
    await overlay.getByLabel('Password').fill(password);
    await overlay.getByRole('button', { name: 'Sign in' }).click();
    await expect(overlay).toHaveCount(0);
    await expect(page.getByText('No user is signed in')).toHaveCount(0);
    await update(page);
    await expect(page.getByText('Profile updated successfully')).toBeVisible();
  });
}

test('is accessible in both themes and fits a narrow phone', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  await page.goto('/profile');
  await update(page);
  await expect(page.getByText('No changes to save')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});
