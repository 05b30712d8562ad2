/** Links that bring tokens or an error, on every page: taken out of the address, explained, and never a session by themselves. */
import { MESSAGES } from '#domain/messages.ts';
import { waitForMailedLink } from '../../../scripts/screenshots/sandbox-mail.ts';
import { headersOf, sessionOf } from '../support/journal.ts';
import { tracesOf } from '../support/session.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, expectToast, test } from '../support/test.ts';

const PAGES = ['/', '/privacy-policy', '/journal?date=2026-01-02', '/reviews', '/signup', '/reset-password', '/login'];

test('a sign-in link names its account on every page, and signs in after a click only', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  const { email } = await signUp(page, { name: 'Grace Jones' });
  const { access_token, refresh_token } = await sessionOf(page);
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString();
  await page.evaluate(() => localStorage.clear());

  for (const path of PAGES) {
    await page.goto('/terms-and-conditions');
    await page.goto(`${path}#${tokens}`);
    await expect(page.getByText(`This link signs you in as ${email}.`), path).toBeVisible();
    await expect(page).toHaveURL('/login');
    expect(await tracesOf(page), path).not.toContain(refresh_token);
    await page.goBack();
    await expect(page).toHaveURL('/terms-and-conditions');
  }

  // A link that is pasted into the address of an open page changes the fragment alone.
  await page.goto('/login');
  await expect(page.getByLabel('Password')).toBeVisible();
  await page.goto(`/login#${tokens}`);
  await expect(page.getByText(`This link signs you in as ${email}.`)).toBeVisible();
  await expect(page).toHaveURL('/login');
  await inBothThemes(page, expectAccessible);

  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL('/journal');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Grace Jones');
  await expect(page.getByRole('dialog')).toContainText(email);
});

test('a sign-in link of another account names both accounts and can be declined', async ({ page, signUp }) => {
  const stranger = await signUp(page);
  const { access_token, refresh_token } = await sessionOf(page);
  const tokens = new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString();
  await page.evaluate(() => localStorage.clear());
  const { email } = await signUp(page);

  await page.goto(`/#${tokens}`);
  await expect(page.getByText(`This link signs you in as ${stranger.email}.`)).toBeVisible();
  await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
  await expectNoHorizontalScroll(page);
  await page.getByRole('button', { name: `Stay signed in as ${email}` }).click();
  await expect(page).toHaveURL('/journal');
  expect((await sessionOf(page)).user.email).toBe(email);
});

test('a link from a mail names the account that it opened before its session is stored', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  const moved = `moved-${email}`;
  const headers = headersOf(await sessionOf(page));
  expect((await page.request.put('/auth/v1/user', { headers, data: { email: moved } })).ok()).toBe(true);
  const tokenHash = new URL(await waitForMailedLink(page, email, 'email_change')).searchParams.get('token_hash');
  const half = { type: 'email_change', token_hash: tokenHash };
  expect((await page.request.post('/auth/v1/verify', { headers, data: half })).ok()).toBe(true);
  await page.evaluate(() => localStorage.clear());

  await page.goto(await waitForMailedLink(page, moved, 'email_change'));
  await expect(page).toHaveURL('/login');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText(`This link signs you in as ${moved}.`)).toBeVisible();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL('/profile');
  expect((await sessionOf(page)).user.email).toBe(moved);
});

test('an error in a link is explained by its code, in our words, with a way to another link', async ({
  page,
  expectAccessible,
}) => {
  const error = 'error=access_denied&error_code=otp_expired&error_description=Send+money';
  for (const path of [`/#${error}`, `/terms-and-conditions#${error}`, `/journal?${error}#${error}`]) {
    await page.goto(path);
    await expect(page.getByText('This link has expired or was already used.'), path).toBeVisible();
    await expect(page).toHaveURL('/login');
    await expect(page.getByText('money')).toHaveCount(0);
  }
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.getByRole('link', { name: 'request a new link' }).click();
  await expect(page).toHaveURL('/forgot-password');

  await page.goto(`/reset-password#${error}`);
  await expect(page.getByText('Invalid or expired reset link')).toBeVisible();
  await expect(page).toHaveURL('/reset-password');

  await page.goto('/#access_token=a.b.c&refresh_token=none');
  await expect(page.getByText('This link is not valid. Request a new one.')).toBeVisible();
  await page.goto('/#error=server_error');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByLabel('Password')).toBeVisible();
});

test('a link or a way back under another host name ends at PUBLIC_URL, signed in and explained', async ({
  page,
  baseURL,
  signUp,
}) => {
  const otherHost = baseURL!.replace('localhost', '127.0.0.1');
  await signUp(page);
  const { access_token, refresh_token } = await sessionOf(page);

  await page.goto(`${otherHost}/reset-password#error=access_denied&error_code=otp_expired&sb=`);
  await expect(page).toHaveURL(`${baseURL}/reset-password`);
  await expect(page.getByRole('link', { name: 'Request a new link' })).toBeVisible();

  await page.goto(
    `${otherHost}/#${new URLSearchParams({ access_token, refresh_token, type: 'magiclink' }).toString()}`,
  );
  await expect(page).toHaveURL(`${baseURL}/login`);
  await expect(page.getByText(/^This link signs you in as /)).toBeVisible();

  await page.goto(`${otherHost}/journal?payment=cancelled`);
  await expectToast(page, MESSAGES.paymentCancelled);
  await expect(page).toHaveURL(`${baseURL}/journal`);
});
