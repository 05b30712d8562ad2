/** Signing in with the sandbox's Google and GitHub in a real browser: its cookies, redirects and security policy. */
import { editor } from '../support/journal.ts';
import { consentAt } from '../support/sign-in.ts';
import { expect, test } from '../support/test.ts';

test('a sign-in at a provider that the page has not started asks for a click before it opens the journal', async ({
  page,
  baseURL,
}) => {
  const email = `github-${crypto.randomUUID()}@example.com`;
  await page.goto(`/auth/v1/authorize?provider=github&redirect_to=${baseURL}/journal`);
  await consentAt(page, 'GitHub', email);
  await expect(page.getByText(email)).toBeVisible();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(editor(page)).toBeVisible();
  await expect(page).toHaveURL(/\/journal$/);
});

test('the callback of another browser signs nobody in', async ({ page, browser, baseURL }) => {
  const attacker = await browser.newPage({ baseURL: baseURL! });
  await attacker.route('**/auth/v1/callback*', (route) => route.abort());
  await attacker.goto(`/auth/v1/authorize?provider=google&redirect_to=${baseURL}/journal`);
  const callback = attacker.waitForRequest('**/auth/v1/callback*');
  await attacker.getByRole('button', { name: 'ana@example.com' }).click();
  await page.goto((await callback).url());
  await expect(editor(page)).toBeHidden();
  const stored = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('auth-token')));
  expect(stored).toEqual([]);
  await attacker.close();
});
