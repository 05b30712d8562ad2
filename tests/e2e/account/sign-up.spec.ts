/** The sign-up form. `landing.spec.ts` creates an account with it. */
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

test('the sign-up form keeps its values when a password is too short or an address is taken', async ({
  page,
  context,
  accounts,
  expectAccessible,
}) => {
  const { email } = (await accounts.create()).person;
  await page.goto('/signup');
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Terms of Service' }).click();
  const terms = await opened;
  await expect(terms).toHaveURL('/terms-and-conditions');
  await terms.close();
  await expect(page).toHaveURL('/signup');

  const password = page.getByLabel('Password');
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(email);
  await password.fill('12345');
  await page.getByRole('checkbox').check();
  const create = page.getByRole('button', { name: 'Create account' });
  await create.click();
  await expect(password).toHaveAccessibleDescription('Password must be at least 6 characters long');
  await expect(page.getByRole('alert').filter({ hasText: 'at least 6 characters' })).toBeVisible();
  await expect(page.getByLabel('Email address')).toHaveValue(email);
  await expect(password).toHaveValue('12345');
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);

  await password.fill('another horse');
  await create.click();
  await expect(page.getByRole('alert').filter({ hasText: 'already' })).toBeVisible();
});
