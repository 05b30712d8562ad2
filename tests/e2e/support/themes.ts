import { expect, type Page } from '@playwright/test';
import type { AxeRules } from './test.ts';

/** Checks a page with every rule in the light theme, and with the rules that depend on colours in the dark theme. */
export async function inBothThemes(
  page: Page,
  expectAccessible: (page: Page, rules: AxeRules) => Promise<void>,
): Promise<void> {
  for (const [theme, rules] of [
    ['light', 'all'],
    ['dark', 'contrast'],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    await expectAccessible(page, rules);
  }
}

/** The page is no wider than its window, down to 320 px (WCAG 1.4.10). */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await expect.poll(over, 'pixels that stick out at 320 px').toBeLessThanOrEqual(0);
}
