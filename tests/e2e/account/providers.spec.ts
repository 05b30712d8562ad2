/** Signing in with the sandbox's Google and GitHub in a real browser: its cookies, redirects and security policy. */
import { editor } from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

for (const [provider, name] of [
  ['google', 'Google'],
  ['github', 'GitHub'],
] as const) {
  test(`signs in with an account of ${name} and opens the journal`, async ({ page, baseURL }) => {
    const email = `${provider}-${crypto.randomUUID()}@example.com`;
    await page.goto(`/auth/v1/authorize?provider=${provider}&redirect_to=${baseURL}/journal`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Sign in with ${name}`);
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Continue with this address' }).click();
    // The page did not start this flow itself, so it asks before it accepts a session from a URL.
    await expect(page.getByText(email)).toBeVisible();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(editor(page)).toBeVisible();
    await expect(page).toHaveURL(/\/journal$/);
  });
}

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
