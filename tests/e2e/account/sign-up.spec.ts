/** The sign-up form. `landing.spec.ts` creates an account with it. */
import { randomUUID } from 'node:crypto';
import { expectNoHorizontalScroll, inBothThemes, expect, test } from '../support/test.ts';

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

test('Enter without the accepted terms says what is missing, at each field', async ({ page, expectAccessible }) => {
  await page.goto('/signup');
  const name = page.getByLabel('Full name');
  const email = page.getByLabel('Email address');
  const password = page.getByLabel('Password');
  const terms = page.getByRole('checkbox');
  const refusal = 'You must accept the Terms of Service & Privacy Policy to create an account';
  await expect(page.getByRole('button', { name: 'Create account' })).toBeDisabled();
  await name.fill('Grace Jones');
  await email.fill(`${randomUUID()}@example.com`);
  await password.fill('correct horse');
  await password.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: refusal })).toBeVisible();
  await expect(terms).toHaveAccessibleDescription(refusal);
  await expect(terms).toBeFocused();
  await expect(terms).toBeInViewport({ ratio: 1 });
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await terms.check();
  await expect(page.getByText(refusal)).toHaveCount(0);

  await name.fill('   ');
  await email.fill('nobody');
  await password.fill('');
  await name.press('Enter');
  await expect(name).toHaveAccessibleDescription('Enter your name');
  await expect(name).toBeFocused();
  await expect(email).toHaveAccessibleDescription('Please enter a valid email address');
  await expect(password).toHaveAccessibleDescription('Enter a password');
  await inBothThemes(page, expectAccessible);
  await name.fill('Grace');
  await expect(name).not.toHaveAttribute('aria-invalid');
  await expect(page).toHaveURL('/signup');
});
