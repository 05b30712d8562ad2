/** A scene, and the steps that several scenes share. */
import type { Page } from '@playwright/test';
import { type Accounts, signUp } from './accounts.ts';
import { endSession, enterPassword, signInOverlay } from '../e2e/support/sign-in.ts';
import type { Product } from '../support/product.ts';
import { randomUUID } from 'node:crypto';
import { ROUTES } from '#domain/routes.ts';

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
  await signInAs(page, email);
  await page.waitForURL((url) => url.pathname !== ROUTES.login.path);
}

/** Signs in to an account of `signUp` on the sign-in page. */
export async function signInAs(page: Page, email: string): Promise<void> {
  await page.goto(ROUTES.login.path);
  await enterPassword(page, { email, password: PASSWORD });
}

/** Ends the session of the open journal, as if it had ended elsewhere, and waits for the overlay. */
export async function endJournalSession(page: Page): Promise<void> {
  await waitForEditor(page);
  await endSession(page);
  await signInOverlay(page).waitFor();
}
