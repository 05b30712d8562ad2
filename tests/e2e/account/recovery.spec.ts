/** Setting a new password with the link of a mail, through the sandbox's mailbox. */
import {
  expectSessionOf,
  signInByPassword,
  tracesOf,
  waitForMailedCode,
  waitForMailedLink,
} from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

test('the link of a reset mail sets a new password once', async ({ page, accounts, expectAccessible }) => {
  const { email } = (await accounts.create()).person;
  expect((await page.request.post('/auth/v1/recover', { data: { email } })).ok()).toBe(true);
  const link = await waitForMailedLink(page, email, 'recovery');
  await page.goto(link);
  await expect(page).toHaveURL('/reset-password');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText(`You are setting a new password for ${email}.`)).toBeVisible();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);

  const password = page.getByLabel('New password', { exact: true });
  const confirmation = page.getByLabel('Confirm new password');
  await password.fill('a new horse');
  await confirmation.fill('another horse');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(confirmation).toHaveAccessibleDescription('Passwords do not match');
  await password.fill('12345');
  await confirmation.fill('12345');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(password).toHaveAccessibleDescription('Password must be at least 6 characters');
  await inBothThemes(page, expectAccessible);

  await password.fill('a new horse');
  await confirmation.fill('a new horse');
  // The confirmation is shown for two seconds: the clock stands still until it was seen.
  await page.clock.install();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(page.getByText('Password updated successfully!')).toBeVisible();
  await page.clock.resume();
  await expect(page).toHaveURL('/journal');
  await signInByPassword(page.request, { email, password: 'a new horse' });

  await test.step('the used link opens nothing', async () => {
    await page.evaluate(() => localStorage.clear());
    await page.goto(link);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
    await inBothThemes(page, expectAccessible);
  });
});

test('a used reset link leads a signed-in user to the profile, and the code of another mail still works', async ({
  page,
  accounts,
  signUp,
  expectAccessible,
}) => {
  const { email: other } = (await accounts.create()).person;
  const { email } = await signUp(page, { path: '/reset-password#error=access_denied&error_code=otp_expired&sb=' });
  await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
  await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
  // Both screens would send a signed-in user to the journal.
  await expect(page.getByRole('link', { name: 'request a new link' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Back to Login' })).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.getByRole('link', { name: 'Change your password' }).click();
  await expect(page).toHaveURL('/profile');
  await expect(page.getByLabel('New Password', { exact: true })).toBeVisible();

  await page.goto('/reset-password#error=access_denied&error_code=otp_expired&sb=');
  expect((await page.request.post('/auth/v1/recover', { data: { email: other } })).ok()).toBe(true);
  await page.getByLabel('Email address').fill(other);
  await page.getByLabel('Code from your email').fill(await waitForMailedCode(page, other));
  await page.getByRole('button', { name: 'Use code' }).click();
  await expect(page.getByText(`You are setting a new password for ${other}.`)).toBeVisible();
});

for (const type of ['magiclink', 'signup', '']) {
  test(`tokens of type "${type}" are no reset link`, async ({ page, accounts }) => {
    const { access_token, refresh_token } = (await accounts.create()).session;
    await page.goto(`/reset-password#${new URLSearchParams({ access_token, refresh_token, type }).toString()}`);
    await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
    await expect(page).toHaveURL('/reset-password');
    await expect.poll(() => tracesOf(page)).not.toContain(refresh_token);
    await page.getByRole('link', { name: 'request a new link' }).click();
    await expect(page).toHaveURL('/forgot-password');
  });
}

test('a reset link with tokens names its account, and its session is stored with the new password only', async ({
  page,
  accounts,
  signUp,
  expectAccessible,
}) => {
  const { person: other, session } = await accounts.create();
  const { access_token, refresh_token } = session;
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'recovery' }).toString();

  await test.step('in a signed-out browser', async () => {
    await page.goto(`/reset-password?${tokens}`);
    await expect(page.getByText(`You are setting a new password for ${other.email}.`)).toBeVisible();
    await expect(page).toHaveURL('/reset-password');
    await expect.poll(() => tracesOf(page)).not.toContain(refresh_token);
  });

  await test.step('in a browser where another user is signed in', async () => {
    const { email } = await signUp(page, { path: '/reset-password' });
    await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
    await expect(page.getByLabel('Confirm new password')).toBeVisible();

    await page.goto(`/#${tokens}`);
    await expect(page).toHaveURL('/reset-password');
    await expect(page.getByText(`You are setting a new password for ${other.email}.`)).toBeVisible();
    await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expect.poll(() => tracesOf(page)).not.toContain(refresh_token);
    await expectSessionOf(page, email);
  });

  await page.getByLabel('New password', { exact: true }).fill('a new horse');
  await page.getByLabel('Confirm new password').fill('a new horse');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(page).toHaveURL('/journal');
  await expectSessionOf(page, other.email);
});

test.describe('while the session cannot be stored', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('a reset in a browser of another user does not open that journal', async ({
    page,
    accounts,
    signUp,
    expectAccessible,
  }) => {
    const { session } = await accounts.create();
    const { access_token, refresh_token } = session;
    const { email } = await signUp(page, { path: '/reset-password' });
    await page.goto(`/#${new URLSearchParams({ access_token, refresh_token, type: 'recovery' }).toString()}`);
    await page.getByLabel('New password', { exact: true }).fill('a new horse');
    await page.getByLabel('Confirm new password').fill('a new horse');
    await page.route('**/auth/v1/user', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.fallback(),
    );
    await page.getByRole('button', { name: 'Update Password' }).click();
    await expect(page.getByText('Sign out first, then sign in with the new password.')).toBeVisible();
    await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
    await expect(page).toHaveURL('/reset-password');
    await inBothThemes(page, expectAccessible);
  });
});
