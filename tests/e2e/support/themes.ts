/** Runs a check on a page in light and in dark: both themes are designed, so both are held to the same rules. */
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';

export async function inBothThemes(page: Page, check: (page: Page) => Promise<void>): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    await check(page);
  }
}

/** The page is no wider than its window, down to 320 px (WCAG 1.4.10). */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await expect.poll(over, 'pixels that stick out at 320 px').toBeLessThanOrEqual(0);
}
