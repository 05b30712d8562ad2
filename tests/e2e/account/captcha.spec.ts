/** A server that requires a captcha (Turnstile): the overlay with the sandbox's widget, which has its own origin. */
import type { Page } from '@playwright/test';
import { waitForMailedCode, endSession, enterPassword, signInOverlay } from '../support/sign-in.ts';
import { editor, expectSaved, items } from '../support/journal.ts';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

test.use({ serverSettings: { SANDBOX_CAPTCHA: 'turnstile' } });
// In one worker: each worker would start a server with these settings.
test.describe.configure({ mode: 'default' });

const SCRIPT = '**/captcha/turnstile/api.js*';

const check = (page: Page) => page.getByRole('dialog', { name: 'Are you human?' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const widgetScripts = (page: Page) => page.locator('script[src*="/captcha/"]');

async function solve(page: Page): Promise<void> {
  await check(page).frameLocator('iframe').getByRole('checkbox', { name: 'I am human' }).click();
  await expect(check(page)).toHaveCount(0);
}

test('sign-up and sign-in ask for a captcha when they are sent, and a closed one sends nothing', async ({
  page,
  expectAccessible,
}) => {
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto('/signup');
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill('a long brown horse');
  await page.getByRole('checkbox').check();
  await expect(widgetScripts(page)).toHaveCount(0);
  await button(page, 'Create account').click();
  await expect(check(page)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await solve(page);
  await expect(page).toHaveURL('/journal');

  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  const sent: string[] = [];
  page.on('request', (request) => void (request.url().includes('/token?') && sent.push(request.url())));
  await enterPassword(page, { email, password: 'a long brown horse' });
  await expect(check(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('alert').filter({ hasText: 'Nothing was sent' })).toBeVisible();
  await expect(button(page, 'Sign in')).toBeFocused();
  await expect(page.getByLabel('Password')).toHaveValue('a long brown horse');
  expect(sent).toEqual([]);
  await expectNoHorizontalScroll(page);
  await button(page, 'Sign in').click();
  await expect(check(page).locator('iframe')).toHaveAttribute('width', '164');
  await solve(page);
  await expect(page).toHaveURL('/journal');
  await expect(editor(page)).toBeVisible();
});

test('recovery and mailed codes ask for a captcha', async ({ page, accounts }) => {
  await page.goto('/forgot-password');
  await page.getByLabel('Email address').fill((await accounts.create()).person.email);
  await button(page, 'Send Reset Link').click();
  await solve(page);
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible();

  await page.goto('/login');
  // Another account, whose mailbox has no earlier code.
  const { person } = await accounts.create();
  await button(page, 'Email me a code').click();
  await expect(page.getByRole('heading', { name: 'Sign in with a code' })).toBeVisible();
  await page.getByLabel('Email address').fill(person.email);
  await button(page, 'Email me a code').click();
  await solve(page);
  const field = page.getByLabel('Code from your email');
  await field.fill(await waitForMailedCode(page, person.email));
  await field.press('Enter');
  await expect(page).toHaveURL('/journal');
});

test.describe('without the widget', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('a blocked script is explained with the host to allow, a refused token too, and the next try works', async ({
    page,
    accounts,
    expectAccessible,
  }) => {
    const { person } = await accounts.create();
    await page.goto('/login');
    await page.route(SCRIPT, (route) => route.abort());
    await page.route('**/captcha/solve', (route) => route.fulfill({ json: { token: 'invented' } }));
    await enterPassword(page, person);
    await expect(check(page).getByText('The check did not load. Allow 127.0.0.1 in your browser')).toBeVisible();
    await inBothThemes(page, expectAccessible);
    await expectNoHorizontalScroll(page);
    await page.unroute(SCRIPT);
    await button(page, 'Try again').click();
    await solve(page);
    await expect(page.getByText('The check did not succeed. Please try again.')).toBeVisible();
    await page.unroute('**/captcha/solve');
    await button(page, 'Sign in').click();
    await solve(page);
    await expect(page).toHaveURL('/journal');

    await test.step('an expired session is renewed with a captcha over the page', async () => {
      await editor(page).click();
      await page.keyboard.type('Half a thought');
      await endSession(page);
      const overlay = signInOverlay(page);
      await overlay.getByLabel('Password').fill(person.password);
      await overlay.getByLabel('Password').press('Enter');
      await solve(page);
      await expect(overlay).toHaveCount(0);
      await expect(items(page)).toHaveText(['Half a thought']);
      await expectSaved(page);
    });
  });
});
