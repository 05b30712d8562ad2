/**
 * Two-step verification: turned on and off on the profile page, asked for at every sign-in, before anything is read.
 */
import type { Page } from '@playwright/test';
import {
  waitForMailedCode,
  waitForTextedCode,
  addApp,
  addAuthenticator,
  appCode,
  newNumber,
  readShownCodes,
  seedApp,
  seedRecoveryCodes,
  endSession,
  signInByPassword,
  startApp,
  enterPassword,
  signInOverlay,
} from '../support/sign-in.ts';
import { editor, expectSaved, headersOf, items, sessionOf } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, loseAnswer, test } from '../support/test.ts';

const WANTED_PAGE = '/journal?date=2026-11-02';
const WRONG_CODE = 'This code is wrong or has expired. Enter the code that your app shows now.';

const secondStep = (page: Page) => page.getByRole('heading', { name: 'Two-step verification' });

async function enterAppCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code from your authenticator app').fill(code);
  await page.keyboard.press('Enter');
}

test.use({ expectedErrors: /net::ERR_FAILED/ });

test('an authenticator app is asked for at each sign-in, before anything of the journal is requested', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const person = await signUp(page, { path: '/profile#security' });
  const secret = await addApp(page);
  const codes = await readShownCodes(page);
  await test.step('the new recovery codes are downloaded', async () => {
    expect(new Set(codes).size).toBe(10);
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe('hustle-forge-recovery-codes.txt');
  });

  await test.step('the codes print alone, on one sheet', async () => {
    await page.emulateMedia({ media: 'print' });
    await expect(page.getByRole('list', { name: 'Recovery codes' })).toBeVisible();
    for (const hidden of ['Copy', 'I have kept them', 'Update Profile'])
      await expect(page.getByRole('button', { name: hidden })).toBeHidden();
    expect((await page.pdf()).toString('latin1'), 'one sheet').toMatch(/\/Count 1\b/);
    await page.emulateMedia({ media: 'screen' });
  });

  await test.step('the section lists the app and the codes', async () => {
    // Closing the section would lose the codes, so no button closes it.
    await expect(page.getByRole('button', { name: /: Two-step verification$/ })).toHaveCount(0);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await expect(page.getByText('10 of 10 left')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.getByRole('button', { name: 'Close: Two-step verification' }).click();
    await expect(page.getByText('Authenticator app', { exact: true })).toBeVisible();
  });

  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).pathname));
  await page.evaluate(() => localStorage.clear());
  await page.goto(WANTED_PAGE);

  await test.step('the second step waits, also after a reload, and can be cancelled', async () => {
    await enterPassword(page, person);
    await expect(secondStep(page)).toBeVisible();
    await expect(page.getByLabel('Code from your authenticator app')).toBeFocused();
    await enterAppCode(page, '000 000');
    await expect(page.getByLabel('Code from your authenticator app')).toHaveAccessibleDescription(WRONG_CODE);
    await inBothThemes(page, expectAccessible);
    await page.goto(WANTED_PAGE);
    await expect(secondStep(page)).toBeVisible();
    await page.getByRole('button', { name: 'Cancel and sign out' }).click();
    await expect(page.getByLabel('Password')).toBeVisible();
    await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage))).not.toContain('access_token');
  });

  await test.step('the code opens the page that was wanted', async () => {
    await enterPassword(page, person);
    await expect(secondStep(page)).toBeVisible();
    expect(requested.filter((path) => /^\/(rest|functions)\//.test(path))).toEqual([]);
    await enterAppCode(page, appCode(secret, 1));
    await expect(page).toHaveURL(WANTED_PAGE);
    await expect(editor(page)).toBeVisible();
  });

  await test.step('the server accepts a code that the page has shown', async () => {
    const headers = headersOf(await sessionOf(page));
    const data = { code: codes[3] };
    const answer = await page.request.post('/auth/v1/factors/recovery-codes/verify', { headers, data });
    expect(answer.ok(), await answer.text()).toBe(true);
  });
});

test('a recovery code replaces the app once, and the owner renews the codes and turns two-step verification off', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { account } = await seedApp(page.request, await accounts.create());
  const codes = await seedRecoveryCodes(page.request, account);
  const { person } = account;

  await test.step('a recovery code replaces the app once', async () => {
    await page.goto('/profile');
    await enterPassword(page, person);
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await expect(page.getByLabel('Recovery code')).toBeFocused();
    await page.getByLabel('Recovery code').fill('0000-0000-0000-0000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByLabel('Recovery code')).toHaveAccessibleDescription(
      /This code is wrong or was already used/,
    );
    await inBothThemes(page, expectAccessible);
    await page.getByLabel('Recovery code').fill(codes[3]!.toUpperCase());
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page).toHaveURL('/profile');
    await expect(page.getByRole('status').getByText(/^You used a recovery code\. 9 are left\./)).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await page.getByRole('status').getByRole('link', { name: 'Two-step verification' }).click();
    await expect(page.getByText('9 of 10 left')).toBeInViewport();
  });

  await test.step('new codes replace the old ones', async () => {
    await page.getByRole('button', { name: 'Get new codes' }).click();
    const dialog = page.getByRole('dialog');
    await page.route('**/recovery-codes/regenerate', (route) => route.abort(), { times: 1 });
    await dialog.getByRole('button', { name: 'Get codes' }).click();
    await expect(dialog.getByRole('alert').filter({ hasText: /./ }).first()).toBeVisible();
    await dialog.getByRole('button', { name: 'Get codes' }).click();
    await expect(page.getByRole('heading', { name: 'Keep your recovery codes' })).toBeVisible();
    expect(await readShownCodes(page)).not.toContain(codes[0]);
    await page.getByRole('button', { name: 'I have kept them' }).click();
  });

  await test.step('the owner turns two-step verification off', async () => {
    await page.getByRole('button', { name: 'Remove app' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('Two-step verification will be off');
    await page.route('**/factors/*', loseAnswer, { times: 1 });
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await expect(dialog.getByRole('alert').filter({ hasText: /./ }).first()).toBeVisible();
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await expectToast(page, 'Two-step verification is off.');
    await expect(page.getByText('Off', { exact: true })).toBeVisible();
    // A sign-in asks for no second step if its user has no factor (account-state.test.ts).
    const { user } = await signInByPassword(page.request, person);
    expect(user).not.toHaveProperty('factors');
  });
});

test('an expired session asks for the second step over the page, and a second tab waits with it', async ({
  page,
  context,
  accounts,
  openAs,
  expectAccessible,
}) => {
  const { account, secret } = await seedApp(page.request, await accounts.create());
  const { password } = account.person;
  await openAs(page, account);
  await editor(page).click();
  await page.keyboard.type('Half a thought');
  const other = await context.newPage();
  await other.goto('/journal');
  await expect(editor(other)).toBeVisible();
  await page.bringToFront();
  await endSession(page);
  const overlay = signInOverlay(page);
  await overlay.getByLabel('Password').fill(password);
  await overlay.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(overlay.getByLabel('Code from your authenticator app')).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await expect(other.getByLabel('Code from your authenticator app')).toBeVisible();
  await overlay.getByRole('button', { name: 'Back' }).click();
  await overlay.getByLabel('Password').fill(password);
  await overlay.getByRole('button', { name: 'Sign in', exact: true }).click();
  await enterAppCode(page, appCode(secret, 1));
  await expect(overlay).toHaveCount(0);
  await expect(items(page)).toHaveText(['Half a thought']);
  await expectSaved(page);
  await expect(other.getByRole('dialog')).toHaveCount(0);
});

test('the mail that resets a password does not replace the second step', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { account, secret } = await seedApp(page.request, await accounts.create());
  const { email } = account.person;
  await page.goto('/forgot-password');
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send Reset Link' }).click();
  await page.getByLabel('Code from your email').fill(await waitForMailedCode(page, email));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Two-step verification is on for this account.')).toBeVisible();
  await expect(page.getByLabel('Code from your authenticator app')).toBeFocused();
  await expect(page.getByLabel('New password', { exact: true })).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await enterAppCode(page, appCode(secret, 1));
  await page.getByLabel('New password', { exact: true }).fill('a newer stable');
  await page.getByLabel('Confirm new password').fill('a newer stable');
  await page.getByRole('button', { name: 'Update Password' }).click();
  await expect(page).toHaveURL('/journal');
});

test('a texted code and a security key confirm a sign-in too', async ({ page, signUp, expectAccessible }) => {
  const phone = newNumber();
  await addAuthenticator(page, { verifiesUser: false });
  const person = await signUp(page, { path: '/profile#security' });
  await page.getByRole('button', { name: 'Set up: Two-step verification' }).click();
  await page.getByRole('button', { name: 'Use text messages' }).click();
  await page.getByLabel('Phone number', { exact: true }).fill('0151 23');
  await page.getByRole('button', { name: 'Text me a code' }).click();
  await expect(page.getByLabel('Phone number', { exact: true })).toHaveAccessibleDescription(/Start with a plus sign/);
  await inBothThemes(page, expectAccessible);
  await page.getByLabel('Phone number', { exact: true }).fill(phone.replace(/^\+49/, '0049 '));
  await page.getByRole('button', { name: 'Text me a code' }).click();
  await page.getByLabel('Code from your text message').fill(await waitForTextedCode(page, phone));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByRole('button', { name: 'Add a security key' }).click();
  await page.getByRole('button', { name: 'Add the key' }).click();
  await expectToast(page, 'Your sign-ins can now be confirmed this way too.');
  await expect(page.getByText('Text message and Security key')).toBeVisible();

  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await enterPassword(page, person);
  await page.getByRole('button', { name: 'Text a code to your phone' }).click();
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Use your security key' }).click();
  await page.getByRole('button', { name: 'Use your security key' }).click();
  await expect(page).toHaveURL('/journal');
});

test('an app whose set-up was left, or got no answer, is set up again', async ({ page, signUp }) => {
  await signUp(page, { path: '/profile#security' });
  const left = await startApp(page);
  await page.reload();
  expect(await startApp(page)).not.toBe(left);
  await page.reload();
  await page.getByRole('button', { name: 'Set up: Two-step verification' }).click();
  await page.route('**/auth/v1/factors', loseAnswer, { times: 1 });
  await page.getByRole('button', { name: 'Use an authenticator app' }).click();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
});
