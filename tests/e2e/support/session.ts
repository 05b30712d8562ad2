/** How stories lose a session, and get one with a password. */
import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** The end of every story about a password: a browser that knows nobody, and the password that must now open the journal. */
export async function expectSignsIn(page: Page, email: string, password: string): Promise<void> {
  await page.evaluate(() => localStorage.clear());
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/journal');
}

/** What an ended session looks like from here: the next refresh is refused for good. */
export async function endSession(page: Page): Promise<void> {
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => name.endsWith('-auth-token'))!;
    const session = JSON.parse(localStorage.getItem(key)!) as Record<string, unknown>;
    localStorage.setItem(key, JSON.stringify({ ...session, expires_at: 1, refresh_token: 'ended' }));
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  });
}

/** Everything that this tab could still give away of a link: the address, both storages, the state of its history entry. */
export const tracesOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([location.href, localStorage, sessionStorage, history.state]));
