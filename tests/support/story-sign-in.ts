/** The end of every story about a password: a browser that knows nobody, and the password that must now open the journal. */
import type { Page } from '@playwright/test';
import { expect } from './story.ts';

export async function expectSignsIn(page: Page, email: string, password: string): Promise<void> {
  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/journal');
}
