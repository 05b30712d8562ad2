/** The badge of the sandbox says what this is and is in nobody's way. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

/** What can be operated and has the badge over it, wherever the page is scrolled to. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const badge = document.querySelector('.sandbox-badge')!;
    const controls = [...document.querySelectorAll<HTMLElement>('a, button, input, select, [contenteditable]')];
    return controls
      .filter((control) => control !== badge && control.checkVisibility())
      .filter((control) =>
        (['start', 'center', 'end'] as const).some((block) => {
          control.scrollIntoView({ block, behavior: 'instant' });
          const a = control.getBoundingClientRect();
          const b = badge.getBoundingClientRect();
          return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        }),
      )
      .map((control) => control.outerHTML);
  });

for (const width of [320, 390, 768, 1440]) {
  test(`covers no control at ${width} px`, async ({ page, signUp }) => {
    await page.setViewportSize({ width, height: 640 });
    for (const path of ['/', '/signup', '/login', '/privacy-policy']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await page.getByRole('link', { name: 'Sandbox', exact: true }).scrollIntoViewIfNeeded();
      expect(await covered(page), path).toEqual([]);
    }
    await signUp(page);
    for (const path of ['/settings', '/profile', '/reviews']) {
      await page.goto(path);
      await expect(page.getByRole('button', { name: 'Upgrade to Closer' }).first()).toBeVisible();
      expect(await covered(page), path).toEqual([]);
    }
  });
}
