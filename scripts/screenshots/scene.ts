import type { Page } from '@playwright/test';
import type { Accounts } from './accounts.ts';
import type { Product } from '../../tests/support/product.ts';

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
