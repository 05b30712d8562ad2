/** Settings and the menu's own switches: export, editor font, theme. */
import { expectNoHorizontalScroll, inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

test('a Dabbler sees both cards locked, and each leads to its own offer', async ({
  page,
  signUp,
  expectAccessible,
}) => {
  await signUp(page);
  await page.goto('/settings');
  await expect(page.getByRole('button', { name: 'Export All Entries' })).toBeDisabled();
  for (const font of await page.getByRole('radio').all()) await expect(font).toBeDisabled();
  const upgrades = page.getByRole('button', { name: 'Upgrade to Closer' });
  await expect(upgrades).toHaveCount(2);
  await inBothThemes(page, expectAccessible);

  await upgrades.nth(0).click();
  await expect(page.getByRole('dialog')).toContainText('Take your words with you');
  await inBothThemes(page, expectAccessible);
  await page.keyboard.press('Escape');
  await upgrades.nth(1).click();
  await expect(page.getByRole('dialog')).toContainText('Write in your own hand');
  await page.keyboard.press('Escape');
  await expectNoHorizontalScroll(page);
});

test('a Closer’s font is kept and reaches the editor', async ({ page, signUp, admin, expectAccessible }) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await page.goto('/settings');
  await page.getByRole('radio', { name: /^Monospace/ }).check();
  await expect(page.locator('html')).toHaveAttribute('data-editor-font', 'monospace');
  await inBothThemes(page, expectAccessible);

  await page.getByRole('link', { name: 'Back to Journal' }).click();
  await expect(page.locator('.ProseMirror')).toHaveCSS('font-family', /JetBrains Mono/);
  await page.goto('/settings');
  await expect(page.getByRole('radio', { name: /^Monospace/ })).toBeChecked();
});

test('a font rests while the plan does not cover it, is there before the first paint, and comes back with the plan', async ({
  page,
  signUp,
  admin,
}) => {
  const { email } = await signUp(page);
  await admin('plan:grant', email);
  await page.goto('/settings');
  await page.getByRole('radio', { name: /^Serif/ }).check();
  await page.addInitScript(() => {
    new MutationObserver((_changes, observer) => {
      if (!document.body) return;
      observer.disconnect();
      document.documentElement.dataset['firstFont'] = document.documentElement.dataset['editorFont'];
    }).observe(document, { childList: true, subtree: true });
  });
  const html = page.locator('html');
  await page.goto('/journal');
  await expect(html).toHaveAttribute('data-first-font', 'serif');
  await expect(page.locator('.ProseMirror')).toHaveCSS('font-family', /Newsreader/);

  await admin('plan:revoke', email);
  await page.reload();
  await expect(html).toHaveAttribute('data-editor-font', 'default');
  // From now on no page begins in the font that it would lose a moment later.
  await page.reload();
  await expect(html).toHaveAttribute('data-first-font', 'default');
  await expect(page.locator('.ProseMirror')).toHaveCSS('font-family', /Instrument Sans/);

  await admin('plan:grant', email);
  await page.reload();
  await expect(html).toHaveAttribute('data-editor-font', 'serif');
});

test('the theme follows the system until somebody chooses, and is there before the first paint', async ({
  page,
  signUp,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await signUp(page);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Light mode' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await expect(page.locator('meta[name=theme-color]')).toHaveAttribute('content', '#fbf8f2');

  await page.addInitScript(() => {
    // Which theme the page had when its body began, long before any module ran.
    new MutationObserver((_changes, observer) => {
      if (!document.body) return;
      observer.disconnect();
      document.documentElement.dataset['firstTheme'] = document.documentElement.dataset['theme'];
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-first-theme', 'light');
});

test('the menu is worked by keyboard alone', async ({ page, signUp, expectAccessible }) => {
  await signUp(page);
  const open = page.getByRole('button', { name: 'Open menu' });
  // The page puts the caret into the log when it opens; the keyboard goes on from there.
  await expect(page.locator('.ProseMirror')).toBeFocused();
  await open.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu).toBeVisible();
  await page.keyboard.press('?');
  await expect(menu.getByRole('region', { name: 'Keyboard shortcuts' })).toContainText('Previous day');
  await inBothThemes(page, expectAccessible);
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(open).toBeFocused();
});
