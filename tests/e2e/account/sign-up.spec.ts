/** Making an account. */
import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

async function fill(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/signup');
  await page.getByLabel('Full name').fill('Grace Jones');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
}

test('a newcomer signs up and is on today’s empty page under their own name', async ({ page }) => {
  await fill(page, `${randomUUID()}@example.com`, 'correct horse');
  const create = page.getByRole('button', { name: 'Create account' });
  await expect(create).toBeDisabled();
  await page.getByRole('checkbox').check();
  await create.click();

  await expect(page).toHaveURL('/journal');
  await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(page.getByRole('dialog')).toContainText('Grace Jones');
  await expect(page.getByRole('dialog')).toContainText('Dabbler');
});

test('a short password is refused beside its field, and nothing typed is lost', async ({ page }) => {
  await fill(page, 'short@example.com', '12345');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByLabel('Password')).toHaveAccessibleDescription('Password must be at least 6 characters long');
  await expect(page.getByLabel('Email address')).toHaveValue('short@example.com');
  await expect(page.getByLabel('Password')).toHaveValue('12345');
});

test('an address that has an account is refused in the words of the account service', async ({ page, signUp }) => {
  const { email } = await signUp(page);
  await page.evaluate(() => localStorage.clear());
  await fill(page, email, 'another horse');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'already' })).toBeVisible();
});

test('the legal pages open beside the form', async ({ page, context }) => {
  await page.goto('/signup');
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Terms of Service' }).click();
  await expect(await opened).toHaveURL('/terms-and-conditions');
  await expect(page).toHaveURL('/signup');
});

test('is accessible in both themes and fits a narrow phone', async ({ page, expectAccessible }) => {
  await fill(page, 'short@example.com', '12345');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText('Password must be at least 6 characters long')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
});
