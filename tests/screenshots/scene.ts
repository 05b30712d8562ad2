import type { Page } from '@playwright/test';
import { type Accounts, signUp } from './accounts.ts';
import type { Product } from '../support/product.ts';
import { randomUUID } from 'node:crypto';
import { ROUTES } from '#domain/routes.ts';
import { generate } from 'otplib';

export type Scene = {
  name: string;
  as: 'guest' | keyof Accounts;
  path: string;
  fullPage?: boolean;
  /** Brings the page into the state of the scene. */
  prepare?: (page: Page, server: Product) => Promise<void>;
};

export const waitForEditor = (page: Page): Promise<void> =>
  page.locator('.ProseMirror[contenteditable=true]').waitFor();

export const PASSWORD = 'correct horse';

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
export const heading = (page: Page, name: string) => page.getByRole('heading', { name });

/** Creates an account, which the scene may change, and signs in to it with the password form. */
export async function signInAsNewAccount(page: Page, server: Product): Promise<void> {
  const email = `${randomUUID()}@example.com`;
  await signUp(server, 'Jo Example', email);
  await enterPassword(page, email);
  await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
}

export async function enterPassword(page: Page, email: string): Promise<void> {
  await page.goto(ROUTES.login.path);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Starts to set up an authenticator app. Returns its secret. */
export async function startApp(page: Page): Promise<string> {
  await page.goto(`${ROUTES.profile.path}#security`);
  await button(page, 'Set up: Two-step verification').click();
  await button(page, 'Use an authenticator app').click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  return (await page.locator('code').innerText()).replaceAll(' ', '');
}

export async function addApp(page: Page): Promise<void> {
  const secret = await startApp(page);
  await page.getByLabel('Code from your authenticator app').fill(totpCode(secret, Date.now()));
  await button(page, 'Turn on').click();
  await heading(page, 'Keep your recovery codes').waitFor();
}

/** Ends the session of the open journal, as if it had ended elsewhere, and waits for the overlay. */
export async function endSession(page: Page): Promise<void> {
  await waitForEditor(page);
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => name.endsWith('-auth-token'))!;
    const session = JSON.parse(localStorage.getItem(key)!) as object;
    localStorage.setItem(key, JSON.stringify({ ...session, expires_at: 1, refresh_token: 'ended' }));
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  });
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
}
