/** The guards of the routes (src/client/app/router.tsx): which page each user is redirected to. */
import { ROUTES } from '#domain/routes.ts';
import { expect, test } from './support/test.ts';

test('a guest signs in and gets the requested page with its query, and guest pages then lead to the journal', async ({
  page,
  accounts,
}) => {
  const { email, password } = (await accounts.create()).person;
  await page.goto('/settings?payment=success&token=5E12345678901234X&from=a%20b');
  await expect(page).toHaveURL('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/settings?payment=success&token=5E12345678901234X&from=a%20b');

  for (const path of [ROUTES.login.path, '/dashboard']) {
    await page.goto(path);
    await expect(page, path).toHaveURL('/journal');
  }
});
