/** Signing in without a password: mailed codes, passkeys and providers, and what their returns and failures show. */
import type { Locator, Page } from '@playwright/test';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import { waitForMailedCode, consentAt, endSession, tracesOf, signInOverlay } from '../support/sign-in.ts';
import { editor, expectSaved, items } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

/** A link from elsewhere to a page that needs a sign-in. */
const WANTED_PAGE = '/journal?date=2026-11-02';

const heading = (page: Page, name: string) => page.getByRole('heading', { name });

/** Opens the disclosure of the rare ways, by keyboard. */
async function openMoreWays(page: Page): Promise<void> {
  const disclosure = page.getByText('More ways to sign in');
  await disclosure.focus();
  await page.keyboard.press('Enter');
}

/** Expects `names` to be the names of all shown buttons, in the order of the Tab key. */
async function expectButtons(ways: Locator, names: string[]): Promise<void> {
  await expect(ways.getByRole('button')).toHaveCount(names.length);
  for (const [index, name] of names.entries())
    await expect(ways.getByRole('button').nth(index)).toHaveAccessibleName(name);
}

test('the sign-in page orders the ways, and folds the rare ones until the user opens them', async ({
  page,
  expectAccessible,
}) => {
  await page.goto('/login');
  const ways = page.getByRole('region', { name: 'Other ways to sign in' });
  const common = ['Email me a code', 'Use a passkey', 'Continue with Google', 'Continue with GitHub'];
  const rare = ['Text me a code', 'Continue with a wallet', 'Single sign-on'];
  await expectButtons(ways, common);
  await openMoreWays(page);
  await expectButtons(ways, [...common, ...rare]);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});

async function enterMailedCode(page: Page, email: string, count = 1): Promise<void> {
  const field = page.getByLabel('Code from your email');
  await expect(field).toBeFocused();
  await field.fill(await waitForMailedCode(page, email, count));
  await field.press('Enter');
}

test('a mailed code signs in, goes back to the page that needed the sign-in, and renews an expired session over it', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { email, password } = (await accounts.create()).person;
  await test.step('a wrong code is refused, and the mailed one opens the page', async () => {
    await page.goto(WANTED_PAGE);
    await expect(page).toHaveURL('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Email me a code' }).click();
    await expect(heading(page, 'Sign in with a code')).toBeVisible();
    await expect(page.getByLabel('Email address')).toHaveValue(email);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Email me a code' }).click();
    await expect(heading(page, 'Check your email')).toBeVisible();
    await expect(page.getByRole('button', { name: /^Send again in \d+ s$/ })).toBeDisabled();
    await expectNoHorizontalScroll(page);
    await page.getByLabel('Code from your email').fill('000 000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect(page.getByLabel('Code from your email')).toHaveAccessibleDescription(/wrong or has expired/);
    await inBothThemes(page, expectAccessible);
    await page.getByLabel('Code from your email').focus();
    await enterMailedCode(page, email);
    await expect(page).toHaveURL(WANTED_PAGE);
  });

  const overlay = signInOverlay(page);
  await test.step('the overlay of an expired session offers the way that signed in last first', async () => {
    await endSession(page);
    await expect(overlay.getByRole('button', { name: 'Email me a code' })).toBeFocused();
    await expect(overlay.getByLabel('Password')).toHaveCount(0);
    await inBothThemes(page, expectAccessible);
    await overlay.getByRole('button', { name: 'Use your password' }).click();
    await overlay.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await expect(overlay).toHaveCount(0);
  });

  await test.step('a code renews the session and saves the unsaved text', async () => {
    await editor(page).click();
    await page.keyboard.type('Half a thought');
    await endSession(page);
    await expect(overlay.getByLabel('Password')).toBeFocused();
    await expect(overlay.getByRole('button', { name: 'Use a passkey' })).toHaveCount(0);
    await overlay.getByRole('button', { name: 'Email me a code' }).click();
    await expect(overlay.getByLabel('Email address')).toHaveValue(email);
    await overlay.getByRole('button', { name: 'Email me a code' }).click();
    await expect(overlay.getByLabel('Code from your email')).toBeFocused();
    await inBothThemes(page, expectAccessible);
    await enterMailedCode(page, email, 2);
    await expect(overlay).toHaveCount(0);
    await expect(items(page)).toHaveText(['Half a thought']);
    await expectSaved(page);
  });
});

test('a provider signs in without another click, and goes back to the page that needed the sign-in', async ({
  page,
  context,
  expectAccessible,
}) => {
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto(WANTED_PAGE);
  await test.step('the back button leads from a provider to a sign-in page that works', async () => {
    await page.getByRole('button', { name: 'Continue with GitHub' }).click();
    await expect(heading(page, 'Sign in with GitHub')).toBeVisible();
    await page.goBack();
    await page.getByRole('button', { name: 'Continue with Google' }).click();
    await expect(heading(page, 'Sign in with Google')).toBeVisible();
  });

  await test.step('a denied sign-in is explained, and the next try opens the page', async () => {
    await page.getByRole('button', { name: 'Deny access' }).click();
    await expect(page.getByText('You did not finish signing in with Google.')).toBeVisible();
    await expect(page).toHaveURL('/login');
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
    await page.getByRole('button', { name: 'Try again with Google' }).click();
    await consentAt(page, 'Google', email);
    await expect(page).toHaveURL(WANTED_PAGE);
    await expect.poll(() => tracesOf(page)).not.toContain('return-path');
  });

  await test.step('an expired session is renewed at the provider in another tab', async () => {
    await editor(page).click();
    await page.keyboard.type('Half a thought');
    await endSession(page);
    const overlay = signInOverlay(page);
    await expect(overlay.getByRole('button', { name: 'Continue with GitHub' })).toHaveCount(0);
    await expect(overlay.getByRole('button', { name: 'Continue with Google' })).toBeFocused();
    await expect(overlay.getByLabel('Password')).toHaveCount(0);
    await inBothThemes(page, expectAccessible);
    const opened = context.waitForEvent('page');
    await overlay.getByRole('button', { name: 'Continue with Google' }).click();
    const tab = await opened;
    await expect(overlay.getByText('Sign in with Google in the new tab, then come back here.')).toBeVisible();
    await consentAt(tab, 'Google', email);
    await expect(heading(tab, 'You are signed in')).toBeVisible();
    await expect(overlay).toHaveCount(0);
    await expect(items(page)).toHaveText(['Half a thought']);
    await expectSaved(page);
  });

  await page.goBack();
  await expect(page).not.toHaveURL(/code=/);
});

test("a company's provider signs in and goes back to the page that needed the sign-in", async ({
  page,
  context,
  expectAccessible,
}) => {
  const company = page.getByLabel('Work email or company domain');
  const startSso = async (address: string): Promise<void> => {
    await company.fill(address);
    await company.press('Enter');
  };
  await test.step('an unknown company is refused, and a known one opens the page', async () => {
    await page.goto(WANTED_PAGE);
    await openMoreWays(page);
    await page.getByRole('button', { name: 'Single sign-on' }).click();
    await startSso('ana@unknown.example');
    await expect(company).toHaveAccessibleDescription('Single sign-on is not set up for unknown.example.');
    await inBothThemes(page, expectAccessible);
    await startSso('ana@sso.example');
    await expect(heading(page, 'Sign in with SSO Example')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'ana@sso.example' }).click();
    await expect(page).toHaveURL(WANTED_PAGE);
    await expect.poll(() => tracesOf(page)).not.toContain('return-path');
  });

  await test.step('the profile offers no change that the company makes', async () => {
    await page.goto('/profile#security');
    const address = page.getByLabel('Email Address');
    await expect(address).toHaveValue('ana@sso.example');
    await expect(address).not.toBeEditable();
    await expect(address).toHaveAccessibleDescription(/your company/);
    await expect(page.getByLabel('New Password', { exact: true })).toHaveCount(0);
    await expect(page.getByRole('heading', { name: 'Two-step verification' })).toBeVisible();
    for (const name of ['Passkeys', 'Linked sign-ins'])
      await expect(page.getByRole('heading', { name })).toHaveCount(0);
    await page.getByLabel('Full Name').fill('Ana Brown');
    await page.getByRole('button', { name: 'Update Profile' }).click();
    await expect(page.getByText('Profile updated successfully')).toBeVisible();
  });

  await test.step('an expired session is renewed at the company in another tab', async () => {
    await endSession(page);
    const overlay = signInOverlay(page);
    await expect(overlay.getByRole('button', { name: 'Continue with single sign-on' })).toBeVisible();
    await expect(overlay.getByLabel('Password')).toHaveCount(0);
    const opened = context.waitForEvent('page');
    await overlay.getByRole('button', { name: 'Continue with single sign-on' }).click();
    const tab = await opened;
    await tab.getByRole('button', { name: 'ana@sso.example' }).click();
    await expect(heading(tab, 'You are signed in')).toBeVisible();
    await expect(overlay).toHaveCount(0);
  });

  await test.step('the sign-in page then shows the rare ways, and explains a denied sign-in', async () => {
    await page.evaluate((key) => localStorage.removeItem(key), sessionStorageKey(page.url()));
    await page.goto('/login');
    await page.getByRole('button', { name: 'Single sign-on' }).click();
    await startSso('sso.example');
    await page.getByRole('button', { name: 'Deny access' }).click();
    await expect(page.getByText('Something went wrong between us and your provider.')).toBeVisible();
    await expect(page).toHaveURL('/login');
  });
});

test('the code of a sign-in that this browser has not started signs nobody in', async ({ page }) => {
  const code = '0f1d2c3b-1234-4000-8000-0123456789ab';
  for (const path of ['/', '/login?flow=signIn&provider=google&sb_flow_id=0123456789abcdef']) {
    await page.goto(`${path}${path.includes('?') ? '&' : '?'}code=${code}`);
    await expect(page.getByText('This sign-in was started in another browser or has expired.'), path).toBeVisible();
    await expect(page).toHaveURL('/login');
    await expect.poll(() => tracesOf(page), path).not.toContain(code);
  }
  await page.getByRole('button', { name: 'Sign in another way' }).click();
  await expect(page.getByLabel('Password')).toBeVisible();
});
