/** A server with a captcha (hCaptcha) that creates no new accounts: the screens say so and offer no sign-up. */
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';
import { enterPassword } from '../support/sign-in.ts';

test.use({ serverSettings: { AUTH_SIGNUPS: 'off', SANDBOX_CAPTCHA: 'hcaptcha' } });

test('landing and sign-in page offer no sign-up, and the sign-up page says that new accounts are closed', async ({
  page,
  expectAccessible,
}) => {
  await page.goto('/');
  await expect(page.getByText('New accounts are closed here.')).toBeVisible();
  await expect(page.locator('a[href="/signup"]')).toHaveCount(0);
  await expect(page.getByRole('textbox')).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/login');
  await expect(page.getByText('New accounts are closed here.')).toBeVisible();
  await enterPassword(page, { email: 'nobody@example.com', password: 'not it at all' });
  const check = page.getByRole('dialog', { name: 'Are you human?' });
  await check.frameLocator('iframe').getByRole('checkbox').click();
  await expect(page.getByRole('alert').filter({ hasText: 'incorrect' })).toBeVisible();
  await expect(page.getByRole('link', { name: /sign up|create/i })).toHaveCount(0);
  await inBothThemes(page, expectAccessible);

  await page.goto('/signup');
  await expect(page.getByRole('heading', { level: 1, name: 'New accounts are closed' })).toBeVisible();
  await expect(page.getByRole('textbox')).toHaveCount(0);
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/login');
});
