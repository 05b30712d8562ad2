/** Signing in and out, in one tab and in two, with and without a server. */
import type { Page } from '@playwright/test';
import { MESSAGES } from '#domain/messages.ts';
import { waitForMailedCode, endSession, signInOverlay } from '../support/sign-in.ts';
import {
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  openDay,
  sessionOf,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, inForcedColorsAndPrint, expect, test } from '../support/test.ts';

const WRONG = 'The email or password you entered is incorrect. Please check your credentials and try again.';

async function signInAgain(page: Page, password: string): Promise<void> {
  await signInOverlay(page).getByLabel('Password').fill(password);
  await signInOverlay(page).getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(signInOverlay(page)).toHaveCount(0);
}

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
}

/** Ends all sessions of the page's user, as another device would. */
async function signOutEverywhere(page: Page): Promise<void> {
  const headers = headersOf(await sessionOf(page));
  expect((await page.request.post('/auth/v1/logout?scope=global', { headers })).ok()).toBe(true);
}

test('sign-in takes a pasted address whose ends have invisible characters, also by Enter', async ({
  page,
  accounts,
}) => {
  const { email, password } = (await accounts.create()).person;
  await page.goto('/login');
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Email address').fill(`\u200b${email}\u2060`);
  await page.getByLabel('Email address').press('Enter');
  await expect(page).toHaveURL('/journal');
});

test('sign-in explains a wrong password and an unconfirmed address, and accepts the corrected password', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { email, password: correct } = (await accounts.create()).person;
  await page.goto('/login');
  const password = page.getByLabel('Password');
  const signIn = page.getByRole('button', { name: 'Sign in', exact: true });
  await page.getByLabel('Email address').fill(email);
  await password.fill('not it');
  await page.getByRole('button', { name: 'Show what you typed' }).click();
  await expect(password).toHaveAttribute('type', 'text');
  await page.getByRole('button', { name: 'Hide what you typed' }).click();
  await expect(password).toHaveAttribute('type', 'password');
  await signIn.click();
  await expect(page.getByRole('alert').filter({ hasText: WRONG })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sign up here' })).toHaveAttribute('href', '/signup');
  await expect(page.getByLabel('Email address')).toHaveValue(email);
  await inBothThemes(page, expectAccessible);
  await inForcedColorsAndPrint(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  await test.step('an address that is not confirmed', async () => {
    await page.route('**/auth/v1/token*', (route) =>
      route.fulfill({ status: 400, json: { error_code: 'email_not_confirmed', msg: 'Email not confirmed' } }),
    );
    await password.fill(correct);
    await signIn.click();
    const notice = page
      .getByRole('alert')
      .filter({ hasText: 'Please check your email and click the confirmation link' });
    await expect(notice).toContainText('before signing in.');
    await notice.getByRole('button', { name: 'Send a new link' }).click();
    await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible();
    await expect(page.getByText(email)).toBeVisible();
    await expect(page.getByRole('button', { name: /^Send again in \d+ s$/ })).toBeVisible();
    // Two sign-ups with different passwords leave neither password valid, so the page links to a password reset.
    await expect(page.getByText('Signed up before with another password?')).toBeVisible();
    await page.getByRole('link', { name: 'Reset your password' }).click();
    await expect(page).toHaveURL('/forgot-password');
    await page.unroute('**/auth/v1/token*');
  });

  await page.goBack();
  // The page that is left has a field of this name too.
  await expect(page.getByRole('heading', { name: 'Sign in', level: 1 })).toBeVisible();
  await page.getByLabel('Email address').fill(email);
  await password.fill(correct);
  await signIn.click();
  await expect(page).toHaveURL('/journal');
});

test.describe('without a server', () => {
  test.use({ expectedErrors: /ERR_FAILED/ });

  test('signing out ends every tab and deletes all data of the first user', async ({ page, context, signUp }) => {
    await signUp(page, { name: 'First Person' });
    await editor(page).click();
    await page.keyboard.type('A secret of the first person');
    await expectSaved(page);
    const other = await context.newPage();
    await openDay(other, today());

    await test.step('the first user signs out in one of two tabs', async () => {
      await logOut(page);
      await expect(page).toHaveURL('/');
      await expect(other).toHaveURL('/');
      await other.close();
      await page.goto('/journal');
      await expect(page).toHaveURL('/login');
    });

    await test.step('a second user sees nothing of the first, and signs out while the server is unreachable', async () => {
      await signUp(page, { name: 'Second Person' });
      await expect(editor(page)).not.toContainText('secret');
      // A first line that an earlier visitor typed on the landing page.
      await page.evaluate(() => localStorage.setItem('hustle-forge:first-line', 'Not for the next person'));
      await page.getByRole('button', { name: 'Open menu' }).click();
      await expect(page.getByRole('dialog')).toContainText('Second Person');
      await expect(page.getByText('First Person')).toHaveCount(0);
      await page.route('**/auth/v1/logout**', (route) => route.abort());
      await page.getByRole('button', { name: 'Logout' }).click();
      await expect(page.getByRole('alert').filter({ hasText: MESSAGES.serverUnreachable })).toBeVisible();
      await expect(page).toHaveURL('/journal');
      await page.getByRole('button', { name: 'Sign out on this device only' }).click();
      await expect(page).toHaveURL('/');
      await expect(page.getByLabel('What have you done today?')).toHaveValue('');
    });
  });
});

test('a session that ends asks for the password over the page, and the unsaved text is saved after it', async ({
  page,
  signUp,
  request,
  admin,
  expectAccessible,
}) => {
  const { email, password } = await signUp(page);
  await test.step('the session cannot be renewed', async () => {
    await editor(page).click();
    await page.keyboard.type('before');
    await endSession(page);
    await expect(signInOverlay(page)).toBeVisible();
    await expect(page).toHaveURL('/journal');
    await expect(signInOverlay(page).getByLabel('Email address')).toHaveValue(email);
    await inBothThemes(page, expectAccessible);
    await page.keyboard.press('Escape');
    await expect(signInOverlay(page)).toBeVisible();
    await signInAgain(page, password);
    await expect(items(page)).toHaveText(['before']);
    await expectSaved(page);
  });

  await test.step('another device ended the session before a save', async () => {
    await signOutEverywhere(page);
    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' and after');
    await expect(signInOverlay(page)).toBeVisible();
    await expect(items(page)).toHaveText(['before and after']);
    await signInAgain(page, password);
    await expectSaved(page);
    await expect.poll(async () => readStoredLog(request, await sessionOf(page), today())).toBe(log('before and after'));
  });

  await test.step('another screen notices that another device ended the session', async () => {
    await admin('plan:grant', email);
    await signOutEverywhere(page);
    await page.goto('/settings');
    await signInAgain(page, password);
    await expect(page.getByRole('radio', { name: 'Monospace' })).toBeEnabled();
  });

  await endSession(page);
  await page.getByRole('button', { name: 'Sign out and leave this page' }).click();
  await expect(page).toHaveURL('/');
});

test('a forgotten password is replaced over the page without losing unsaved text', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email } = await signUp(page);
  await editor(page).click();
  await page.keyboard.type('Half a thought');
  await endSession(page);
  await signInOverlay(page).getByRole('button', { name: 'Forgot your password?' }).click();
  const code = signInOverlay(page).getByLabel('Code from your email');
  await expect(code).toBeFocused();
  await inBothThemes(page, expectAccessible);
  await code.fill(await waitForMailedCode(page, email));
  await code.press('Enter');
  await expect(signInOverlay(page).getByText(`You are setting a new password for ${email}.`)).toBeVisible();
  await signInOverlay(page).getByLabel('New password', { exact: true }).fill('a new horse');
  await signInOverlay(page).getByLabel('Confirm new password').fill('a new horse');
  await signInOverlay(page).getByRole('button', { name: 'Update Password' }).click();
  await expect(signInOverlay(page)).toHaveCount(0);
  await expect(items(page)).toHaveText(['Half a thought']);
  await expectSaved(page);
});

test.describe('without storage', () => {
  test.use({ expectedErrors: /SecurityError|blocked/ });

  test('a browser that blocks cookies and site data is told to allow them', async ({ page }) => {
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new DOMException('blocked', 'SecurityError');
        },
      });
    });
    await page.goto('/login');
    await expect(page.getByText('Your browser blocks cookies and site data. Allow them for this site,')).toBeVisible();
  });
});
