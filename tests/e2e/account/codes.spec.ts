/** The six-digit codes of mails, for a user who reads mail on another device. */
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from '@playwright/test';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { waitForMailedCode } from '../support/sign-in.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

const SENT = 'Password reset email sent! Check your inbox.';

const codeField = (page: Page): Locator => page.getByLabel('Code from your email');
const useCode = (page: Page): Promise<void> => page.getByRole('button', { name: 'Use code' }).click();
const otherCode = (code: string): string => code.replace(/^./, (digit) => String((Number(digit) + 1) % 10));

async function setPassword(page: Page, password: string): Promise<void> {
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('Confirm new password').fill(password);
  await page.getByRole('button', { name: 'Update Password' }).click();
}

test('the code of a reset mail sets a new password and stores no session before it', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { email } = (await accounts.create()).person;

  await test.step('the form rejects an invalid address and does not reveal whether an account exists', async () => {
    await page.goto('/forgot-password');
    const address = page.getByLabel('Email address');
    const send = page.getByRole('button', { name: 'Send Reset Link' });
    await address.fill('no-at-sign');
    await send.click();
    await expect(address).toHaveAccessibleDescription('Please enter a valid email address');
    await address.fill('nobody-here@example.com');
    await send.click();
    await expect(page.getByText(SENT)).toBeVisible();
    await page.getByRole('button', { name: 'send it again' }).click();
    await address.fill(email);
    await send.click();
    await expect(page.getByText(SENT)).toBeVisible();
  });

  const field = codeField(page);
  await expect(field).toBeFocused();
  await expect(field).toHaveAttribute('inputmode', 'numeric');
  await expect(field).toHaveAttribute('autocomplete', 'one-time-code');

  await field.fill('123');
  await useCode(page);
  await expect(field).toHaveAccessibleDescription('Enter the six-digit code from the email.');
  const code = await waitForMailedCode(page, email);
  await field.fill(otherCode(code));
  await useCode(page);
  await expect(field).toHaveAccessibleDescription(/This code is wrong or has expired/);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  await field.fill(` ${code.slice(0, 3)} ${code.slice(3)} `);
  await useCode(page);
  await expect(page.getByText(`You are setting a new password for ${email}.`)).toBeVisible();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await setPassword(page, 'a new horse');
  await expect(page).toHaveURL('/journal');
});

test('the reset page accepts an address and a code, and says when its session has ended', async ({
  page,
  accounts,
  expectAccessible,
}) => {
  const { email, password } = (await accounts.create()).person;
  const headers = { apikey: PUBLISHABLE_KEY };
  expect((await page.request.post('/auth/v1/recover', { headers, data: { email } })).ok()).toBe(true);
  await page.goto('/reset-password');
  await page.getByLabel('Email address').fill(email);
  await codeField(page).fill(await waitForMailedCode(page, email));
  await useCode(page);
  await expect(page.getByText(`You are setting a new password for ${email}.`)).toBeVisible();

  const signedIn = await page.request.post('/auth/v1/token?grant_type=password', {
    headers,
    data: { email, password },
  });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const authorized = { headers: { ...headers, authorization: `Bearer ${token}` } };
  expect((await page.request.post('/auth/v1/logout?scope=global', authorized)).ok()).toBe(true);
  await setPassword(page, 'a new horse');
  const problem = page.getByRole('alert').filter({ hasText: 'Your reset link has expired. Please request a new one.' });
  await expect(problem).toBeVisible();
  await expectAccessible(page);
  await problem.getByRole('link', { name: 'Request a new link' }).click();
  await expect(page).toHaveURL('/forgot-password');
});

test('the mail that confirms an address can be sent again after a minute, and its code opens the journal', async ({
  page,
  expectAccessible,
}) => {
  const email = `${randomUUID()}@example.com`;
  const data = { email, password: 'correct horse', data: { name: 'Grace Jones' } };
  const answer = await page.request.post('/auth/v1/signup', { headers: { apikey: PUBLISHABLE_KEY }, data });
  const session = (await answer.json()) as { user: object };
  // The sandbox confirms addresses itself. These are the answers of a server that sends a mail first.
  await page.route('**/auth/v1/signup*', (route) => route.fulfill({ json: session.user }));
  let sent: unknown;
  await page.route('**/auth/v1/verify*', (route) => {
    sent = route.request().postDataJSON();
    return route.fulfill({ json: session });
  });
  await page.clock.install();
  await page.goto('/signup');
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByRole('button', { name: 'Send again in 60 s' })).toBeDisabled();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.clock.runFor(60_000);
  await page.getByRole('button', { name: 'Send Again' }).click();
  await expect(page.getByText('We sent the email again.')).toBeVisible();
  await codeField(page).fill('042 117');
  await useCode(page);
  await expect(page).toHaveURL('/journal');
  expect(sent).toMatchObject({ email, token: '042117', type: 'signup' });
});
