/** The consent page of the sandbox's Google and GitHub. */
import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** Signs in at the provider with an account of this address. */
export async function consentAt(page: Page, provider: string, email: string): Promise<void> {
  // Waits for the consent page, because the sign-in page and the profile page have an email field too.
  await expect(page.getByRole('heading', { name: `Sign in with ${provider}` })).toBeVisible();
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Continue with this address' }).click();
}
