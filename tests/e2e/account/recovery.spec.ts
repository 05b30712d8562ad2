/** A forgotten password, through the real mailbox. */
import { waitForMailedLink } from '../../../scripts/screenshots/sandbox-mail.ts';
import { sessionOf } from '../support/journal.ts';
import { expectSignsIn, tracesOf } from '../support/session.ts';
import { inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

const SENT = 'Password reset email sent! Check your inbox.';

test('the link in the mail sets a new password and opens the journal', async ({ page, signUp, expectAccessible }) => {
  const { email } = await signUp(page);
  await page.evaluate(() => localStorage.clear());
  await page.goto('/forgot-password');
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send Reset Link' }).click();
  await expect(page.getByText(SENT)).toBeVisible();
  await inBothThemes(page, expectAccessible);

  const link = await waitForMailedLink(page, email, 'recovery');
  await page.goto(link);
  await expect(page).toHaveURL('/reset-password');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText(`For the account ${email}.`)).toBeVisible();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);

  const fresh = page.getByLabel('New password', { exact: true });
  const again = page.getByLabel('Confirm new password');
  await fresh.fill('a new horse');
  await again.fill('another horse');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(again).toHaveAccessibleDescription('Passwords do not match');
  await fresh.fill('12345');
  await again.fill('12345');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(fresh).toHaveAccessibleDescription('Password must be at least 6 characters');
  await inBothThemes(page, expectAccessible);

  await fresh.fill('a new horse');
  await again.fill('a new horse');
  // Said for two seconds: those last until they were seen.
  await page.clock.install();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(page.getByText('Password updated successfully!')).toBeVisible();
  await page.clock.resume();
  await expect(page).toHaveURL('/journal');

  await expectSignsIn(page, email, 'a new horse');

  // The link was used: somebody who finds it later gets nowhere.
  await page.evaluate(() => localStorage.clear());
  await page.goto(link);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
});

test('an address without an account gets the same answer', async ({ page }) => {
  await page.goto('/forgot-password');
  await page.getByLabel('Email address').fill('nobody-here@example.com');
  await page.getByRole('button', { name: 'Send Reset Link' }).click();
  await expect(page.getByText(SENT)).toBeVisible();
});

for (const text of ['', 'no-at-sign', 'a b@example.com']) {
  test(`"${text}" is not an address`, async ({ page }) => {
    await page.goto('/forgot-password');
    const address = page.getByLabel('Email address');
    await address.fill(text);
    await page.getByRole('button', { name: 'Send Reset Link' }).click();
    await expect(address).toHaveAccessibleDescription('Please enter a valid email address');
  });
}

test('without a link there is nothing to reset', async ({ page, expectAccessible }) => {
  await page.goto('/reset-password');
  await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
  await inBothThemes(page, expectAccessible);
});

for (const mark of ['?', '#']) {
  test(`tokens after "${mark}" name the account, and store its session with the new password only`, async ({
    page,
    signUp,
  }) => {
    const { email } = await signUp(page);
    const { access_token, refresh_token } = await sessionOf(page);
    await page.evaluate(() => localStorage.clear());
    const tokens = new URLSearchParams({ access_token, refresh_token, type: 'recovery' }).toString();
    await page.goto(`/reset-password${mark}${tokens}`);
    await expect(page.getByText(`For the account ${email}.`)).toBeVisible();
    await expect(page).toHaveURL('/reset-password');
    expect(await tracesOf(page)).not.toContain(refresh_token);

    await page.getByLabel('New password', { exact: true }).fill('a new horse');
    await page.getByLabel('Confirm new password').fill('a new horse');
    await page.getByRole('button', { name: 'Update Password' }).click();
    await expect(page).toHaveURL('/journal');
    expect((await sessionOf(page)).user.email).toBe(email);
  });
}

test('tokens of another account leave the signed-in user signed in, and both accounts are named', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const stranger = await signUp(page);
  const { access_token, refresh_token } = await sessionOf(page);
  await page.evaluate(() => localStorage.clear());
  const { email } = await signUp(page);
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'recovery' }).toString();
  await page.goto(`/#${tokens}`);
  await expect(page).toHaveURL('/reset-password');
  await expect(page.getByText(`For the account ${stranger.email}.`)).toBeVisible();
  await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  expect((await sessionOf(page)).user.email).toBe(email);
});

test('somebody who is signed in may set a new password here', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  await page.goto('/reset-password');
  await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
  await expect(page.getByLabel('Confirm new password')).toBeVisible();
});
