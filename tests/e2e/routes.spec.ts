/** Who sees which address: every row of the route table, for a guest and for somebody who is signed in. */
import { ROUTES } from '#domain/routes.ts';
import { expect, test } from './support/test.ts';

const rows = Object.values(ROUTES);

test.describe('a guest', () => {
  for (const { path, access } of rows) {
    const leadsTo = access === 'protected' ? '/login' : path;
    test(`who opens ${path} is shown ${leadsTo}`, async ({ page }) => {
      await page.goto(path);
      await expect(page).toHaveURL(leadsTo);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    });
  }

  test('who opens an unknown address is shown the landing page', async ({ page }) => {
    await page.goto('/dashboard');
    await expect(page).toHaveURL('/');
  });
});

test('somebody signed in is kept off the pages for guests and let onto all others', async ({ page, signUp }) => {
  await signUp(page);
  for (const { path, access } of rows) {
    await page.goto(path);
    await expect(page).toHaveURL(access === 'guests' ? '/journal' : path);
    await expect(page.getByRole('heading', { level: 1 })).toBeAttached();
  }
  await page.goto('/dashboard');
  await expect(page).toHaveURL('/journal');
});

test('after signing in, somebody gets where they were going, with the query as it was', async ({ page, signUp }) => {
  const { email, password } = await signUp(page);
  await page.evaluate(() => localStorage.clear());
  await page.goto('/settings?payment=success&token=5E12345678901234X&from=a%20b');
  await expect(page).toHaveURL('/login');

  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/settings?payment=success&token=5E12345678901234X&from=a%20b');
});
