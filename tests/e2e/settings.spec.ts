/** Settings and the switches of the menu: editor font, theme, shortcuts. `upgrade.spec.ts` tests the locked cards. */
import type { Page } from '@playwright/test';
import { inBothThemes, inForcedColorsAndPrint, expect, test } from './support/test.ts';

/** Copies an attribute of the page at the moment its body begins, before any module runs. */
async function recordBeforeFirstPaint(page: Page, from: string, to: string): Promise<void> {
  await page.addInitScript(
    ([source, target]) => {
      new MutationObserver((_changes, observer) => {
        if (!document.body) return;
        observer.disconnect();
        document.documentElement.dataset[target!] = document.documentElement.dataset[source!];
      }).observe(document, { childList: true, subtree: true });
    },
    [from, to],
  );
}

test('the font of a premium user is set before the first paint, and is not used while the plan does not include it', async ({
  page,
  accounts,
  openAs,
  admin,
  expectAccessible,
}) => {
  const account = await accounts.create();
  const { email } = account.person;
  await accounts.upgrade(account);
  await recordBeforeFirstPaint(page, 'editorFont', 'firstFont');
  const html = page.locator('html');
  const editor = page.locator('.ProseMirror');
  await openAs(page, account, '/settings');
  await page.getByRole('radio', { name: /^Monospace/ }).check();
  await expect(html).toHaveAttribute('data-editor-font', 'monospace');
  await inBothThemes(page, expectAccessible);
  await inForcedColorsAndPrint(page, expectAccessible);
  await page.getByRole('link', { name: 'Back to Journal' }).click();
  await expect(editor).toHaveCSS('font-family', /JetBrains Mono/);

  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page.getByRole('radio', { name: /^Monospace/ })).toBeChecked();
  await page.getByRole('radio', { name: /^Serif/ }).check();
  await page.goto('/journal');
  await expect(html).toHaveAttribute('data-first-font', 'serif');
  await expect(editor).toHaveCSS('font-family', /Newsreader/);

  await admin('plan:revoke', email);
  await page.reload();
  await expect(html).toHaveAttribute('data-editor-font', 'default');
  // The next page does not start in a font that it would lose a moment later.
  await page.reload();
  await expect(html).toHaveAttribute('data-first-font', 'default');
  await expect(editor).toHaveCSS('font-family', /Instrument Sans/);

  await admin('plan:grant', email);
  await page.reload();
  await expect(html).toHaveAttribute('data-editor-font', 'serif');
});

test('the menu works by keyboard, lists the shortcuts, and sets a theme that holds before the first paint', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await signUp(page);
  const html = page.locator('html');
  await expect(html).toHaveAttribute('data-theme', 'dark');
  const open = page.getByRole('button', { name: 'Open menu' });
  // The journal focuses the editor when it opens.
  await expect(page.locator('.ProseMirror')).toBeFocused();
  await open.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu).toBeVisible();
  await page.keyboard.press('?');
  const keys = menu.getByRole('region', { name: 'Keyboard shortcuts' });
  await expect(keys).toBeInViewport({ ratio: 0.8 });
  for (const [name, key] of [
    ['Previous day', '←'],
    ['Find', 'K'],
    ['Calendar', 'C'],
    ['Bold', 'B'],
  ] as const)
    await expect(keys.locator('div').filter({ hasText: name })).toContainText(key);
  await inBothThemes(page, expectAccessible);
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(open).toBeFocused();

  await open.click();
  await menu.getByRole('button', { name: 'Light mode' }).click();
  await expect(html).toHaveAttribute('data-theme', 'light');
  await expect(page.locator('meta[name=theme-color]')).toHaveAttribute('content', '#fbf8f2');
  await recordBeforeFirstPaint(page, 'theme', 'firstTheme');
  await page.reload();
  await expect(html).toHaveAttribute('data-first-theme', 'light');
});
