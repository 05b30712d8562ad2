/**
 * Links of mails that carry tokens or an error, on every page: removed from the address, explained, and never a session
 * without a click. `auth-link.test.ts` proves which page explains which link.
 */
import { MESSAGES } from '#domain/messages.ts';
import { expectSessionOf, tracesOf, waitForMailedCode, waitForMailedLink } from '../support/sign-in.ts';
import { headersOf } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, expectToast, test } from '../support/test.ts';

/** One path of each document: the landing page, a legal page, the app. */
const PATHS = ['/', '/privacy-policy', '/journal?date=2026-01-02'];

test('a sign-in link names its account on every page and can be declined', async ({ page, accounts, signUp }) => {
  const { person: linked, session } = await accounts.create({ name: 'Grace Jones' });
  const { access_token, refresh_token } = session;
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString();
  const question = page.getByText(`This link signs you in as ${linked.email}.`);

  await page.goto('/terms-and-conditions');
  for (const path of PATHS) {
    await page.goto(`${path}#${tokens}`);
    await expect(question, path).toBeVisible();
    await expect(page).toHaveURL('/login');
    await expect.poll(() => tracesOf(page), path).not.toContain(refresh_token);
    await page.goBack();
    await expect(page).toHaveURL('/terms-and-conditions');
  }

  await test.step('a different signed-in user declines the link', async () => {
    const { email } = await signUp(page, { path: `/#${tokens}` });
    await expect(question).toBeVisible();
    await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
    await expectNoHorizontalScroll(page);
    await page.getByRole('button', { name: `Stay signed in as ${email}` }).click();
    await expect(page).toHaveURL('/journal');
    await expectSessionOf(page, email);
    await page.evaluate(() => localStorage.clear());
  });
});

test('a sign-in link that is pasted into an open page signs in after a click', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { person, session } = await accounts.create({ name: 'Grace Jones' });
  const { access_token, refresh_token } = session;
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString();
  await page.goto('/login');
  await expect(page.getByLabel('Password')).toBeVisible();
  // Only the fragment changes, so the page is not loaded again.
  await page.goto(`/login#${tokens}`);
  await expect(page.getByText(`This link signs you in as ${person.email}.`)).toBeVisible();
  await expect(page).toHaveURL('/login');
  await inBothThemes(page, expectAccessible);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL('/journal');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Grace Jones');
  await expect(page.getByRole('dialog')).toContainText(person.email);
});

test('the link of an address change names its account before the session is stored', async ({ page, accounts }) => {
  const { person, session } = await accounts.create();
  const { email } = person;
  const newEmail = `moved-${email}`;
  const headers = headersOf(session);
  expect((await page.request.put('/auth/v1/user', { headers, data: { email: newEmail } })).ok()).toBe(true);
  const tokenHash = new URL(await waitForMailedLink(page, email, 'email_change')).searchParams.get('token_hash');
  const firstLink = { type: 'email_change', token_hash: tokenHash };
  expect((await page.request.post('/auth/v1/verify', { headers, data: firstLink })).ok()).toBe(true);

  await page.goto(await waitForMailedLink(page, newEmail, 'email_change'));
  await expect(page).toHaveURL('/login');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText(`This link signs you in as ${newEmail}.`)).toBeVisible();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL('/profile');
  await expectSessionOf(page, newEmail);
});

test('an error in a link is explained by its code, never by its text, and the expired link is replaced by a code', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { email } = (await accounts.create()).person;
  const error = 'error=access_denied&error_code=otp_expired&error_description=Send+money';
  const address = page.getByLabel('Email address');

  await page.goto(`/reset-password#${error}`);
  await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
  await expect(page).toHaveURL('/reset-password');

  await page.goto('/login#error=server_error');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByLabel('Password')).toBeVisible();
  await page.goto('/login#access_token=a.b.c&refresh_token=none');
  await expect(page.getByText('This link is not valid. Request a new one.')).toBeVisible();
  await page.getByRole('link', { name: 'request a new link' }).click();
  await expect(page).toHaveURL('/forgot-password');

  await page.goto(`/?${error}#${error}`);
  await expect(page.getByRole('heading', { name: 'This link does not work' })).toBeVisible();
  await expect(page.getByText('This link has expired or was already used.')).toBeVisible();
  await expect(page).toHaveURL('/login');
  await expect(page.getByText('money')).toHaveCount(0);
  await address.fill('nobody');
  await page.getByRole('button', { name: 'Email me a new link' }).click();
  await expect(address).toHaveAccessibleDescription('Please enter a valid email address');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await address.fill(email);
  await page.getByRole('button', { name: 'Email me a new link' }).click();
  const code = page.getByLabel('Code from your email');
  await expect(code).toBeFocused();
  await code.fill(await waitForMailedCode(page, email));
  await code.press('Enter');
  await expect(page).toHaveURL('/journal');
});

test('a link under another host name is redirected to PUBLIC_URL and explained there', async ({
  page,
  baseURL,
  accounts,
  openAs,
}) => {
  const otherHost = baseURL!.replace('localhost', '127.0.0.1');
  const account = await accounts.create();
  const { access_token, refresh_token } = account.session;

  await openAs(page, account, `${otherHost}/reset-password#error=access_denied&error_code=otp_expired&sb=`);
  await expect(page).toHaveURL(`${baseURL}/reset-password`);
  await expect(page.getByRole('link', { name: 'Change your password' })).toBeVisible();

  await page.goto(
    `${otherHost}/#${new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString()}`,
  );
  await expect(page).toHaveURL(`${baseURL}/login`);
  await expect(page.getByText(/^This link signs you in as /)).toBeVisible();

  await page.goto(`${otherHost}/journal?payment=cancelled`);
  await expectToast(page, MESSAGES.paymentCancelled);
  await expect(page).toHaveURL(`${baseURL}/journal`);
});
