/** Signing in and out, in one tab and in two, with and without a server. */
import { waitForMailedCode } from '../../../scripts/screenshots/sandbox-mail.ts';
import { headersOf, sessionOf } from '../support/journal.ts';
import { endSession } from '../support/session.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

const WRONG = 'The email or password you entered is incorrect. Please check your credentials and try again.';
const editor = '.ProseMirror[contenteditable=true]';

test('a wrong password is said plainly, with a way to sign up, and can be put right', async ({ page, signUp }) => {
  const { email, password } = await signUp(page);
  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill('not it');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: WRONG })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sign up here' })).toHaveAttribute('href', '/signup');
  await expect(page.getByLabel('Email address')).toHaveValue(email);

  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/journal');
});

test('the password can be looked at', async ({ page }) => {
  await page.goto('/login');
  const password = page.getByLabel('Password');
  await password.fill('correct horse');
  await page.getByRole('button', { name: 'Show what you typed' }).click();
  await expect(password).toHaveAttribute('type', 'text');
  await page.getByRole('button', { name: 'Hide what you typed' }).click();
  await expect(password).toHaveAttribute('type', 'password');
});

test('logging out leads to the landing page, and the journal asks for a password again', async ({ page, signUp }) => {
  await signUp(page);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page).toHaveURL('/');
  await page.goto('/journal');
  await expect(page).toHaveURL('/login');
});

test('logging out in one tab leaves the journal in the other', async ({ page, context, signUp }) => {
  await signUp(page);
  const other = await context.newPage();
  await other.goto('/journal');
  await expect(other.locator(editor)).toBeVisible();

  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(other).toHaveURL('/');
});

test('a second person in the same browser sees nothing of the first', async ({ page, signUp }) => {
  await signUp(page, { name: 'First Person' });
  await page.locator(editor).click();
  await page.keyboard.type('A secret of the first person');
  await expect(page.getByText(/^Saved/)).toBeVisible();
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page).toHaveURL('/');

  await signUp(page, { name: 'Second Person' });
  await expect(page.locator(editor)).not.toContainText('secret');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Second Person');
  await expect(page.getByText('First Person')).toHaveCount(0);
});

test.describe('without a server', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('logging out says that other devices stay signed in, and works on this one', async ({ page, signUp }) => {
    await signUp(page);
    await page.route('**/auth/v1/logout**', (route) => route.abort());
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: 'Logout' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'the server could not be reached' })).toBeVisible();
    await expect(page).toHaveURL('/journal');
    await page.getByRole('button', { name: 'Sign out on this device only' }).click();
    await expect(page).toHaveURL('/');
  });
});

test('a session that ends while the journal is open asks for the password over the page', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email, password } = await signUp(page);
  await page.locator(editor).click();
  await page.keyboard.type('Half a thought');
  await endSession(page);

  const overlay = page.getByRole('dialog', { name: 'Sign in again' });
  await expect(overlay).toBeVisible();
  await expect(page).toHaveURL('/journal');
  await expect(overlay.getByLabel('Email address')).toHaveValue(email);
  await inBothThemes(page, expectAccessible);
  await page.keyboard.press('Escape');
  await expect(overlay).toBeVisible();

  await overlay.getByLabel('Password').fill(password);
  await overlay.getByRole('button', { name: 'Sign in' }).click();
  await expect(overlay).toHaveCount(0);
  await expect(page.locator(editor)).toContainText('Half a thought');
  await expect(page.getByText(/^Saved/)).toBeVisible();
});

test('a session that ended elsewhere is noticed on every screen', async ({ page, signUp, admin }) => {
  const { email, password } = await signUp(page);
  await admin('plan:grant', email);
  const headers = headersOf(await sessionOf(page));
  expect((await page.request.post('/auth/v1/logout?scope=global', { headers })).ok()).toBe(true);
  await page.goto('/settings');
  const overlay = page.getByRole('dialog', { name: 'Sign in again' });
  await overlay.getByLabel('Password').fill(password);
  await overlay.getByRole('button', { name: 'Sign in' }).click();
  await expect(overlay).toHaveCount(0);
  await expect(page.getByRole('radio', { name: 'Monospace' })).toBeEnabled();
});

test('a forgotten password is replaced over the page, and no word on it is lost', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await page.locator(editor).click();
  await page.keyboard.type('Half a thought');
  await endSession(page);
  const overlay = page.getByRole('dialog', { name: 'Sign in again' });
  await overlay.getByRole('button', { name: 'Forgot your password?' }).click();
  const code = overlay.getByLabel('Code from your e-mail');
  await expect(code).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await code.fill(await waitForMailedCode(page, email));
  await code.press('Enter');
  await expect(overlay.getByText(`For the account ${email}.`)).toBeVisible();
  await overlay.getByLabel('New password', { exact: true }).fill('a new horse');
  await overlay.getByLabel('Confirm new password').fill('a new horse');
  await overlay.getByRole('button', { name: 'Update Password' }).click();
  await expect(overlay).toHaveCount(0);
  await expect(page.locator(editor)).toContainText('Half a thought');
  await expect(page.getByText(/^Saved/)).toBeVisible();
});

test('whoever does not sign in again leaves for the landing page', async ({ page, signUp }) => {
  await signUp(page);
  await endSession(page);
  await page.getByRole('button', { name: 'Leave this page instead' }).click();
  await expect(page).toHaveURL('/');
});

test('is accessible in both themes and fits a narrow phone', async ({ page, expectAccessible }) => {
  await page.goto('/login');
  await page.getByLabel('Email address').fill('nobody@example.com');
  await page.getByLabel('Password').fill('not it');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText(WRONG)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});

test('whoever never opened the link of the first mail can have another', async ({ page, signUp }) => {
  const { email, password } = await signUp(page);
  await page.evaluate(() => localStorage.clear());
  await page.route('**/auth/v1/token*', (route) =>
    route.fulfill({ status: 400, json: { error_code: 'email_not_confirmed', msg: 'Email not confirmed' } }),
  );
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const told = page.getByRole('alert').filter({ hasText: 'Please check your email and click the confirmation link' });
  await expect(told).toContainText('before signing in.');
  await told.getByRole('button', { name: 'No link?' }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  await expect(page.getByText(email)).toBeVisible();
  await page.getByRole('button', { name: 'Send Again' }).click();
  await expect(page.getByText('The mail is on its way.')).toBeVisible();
  // Two sign-ups with different passwords leave neither of them valid: here is where to choose one.
  await expect(page.getByText('Signed up before with another password? Choose a new one with')).toBeVisible();
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await expect(page).toHaveURL('/forgot-password');
});
