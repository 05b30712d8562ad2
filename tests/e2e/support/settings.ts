/** Opens sections of the settings. A closed section shows one line. */
import type { Page } from '@playwright/test';

export async function openSections(page: Page, ...titles: readonly string[]): Promise<void> {
  for (const title of titles) await page.getByRole('button', { name: `Change: ${title}` }).click();
}
