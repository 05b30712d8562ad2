/** Toasts beside a modal dialog, which makes the rest of the page inert, and on a phone. */
import type { Locator, Page } from '@playwright/test';
import { editor, items, log, today } from './support/journal.ts';
import { inBothThemes, expect, test } from './support/test.ts';

const PROFILE = '**/rest/v1/profiles*';

const menu = (page: Page): Locator => page.getByRole('dialog', { name: 'Menu' });
const toast = (page: Page): Locator => page.getByRole('status').filter({ hasText: 'Profile refreshed successfully!' });
const dismiss = (page: Page): Locator => page.getByRole('button', { name: 'Dismiss' });

/** Opens the journal without its profile and refreshes the profile in the menu. */
async function refreshInMenu(page: Page, openJournal: () => Promise<unknown>): Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }));
  await openJournal();
  await page.getByRole('button', { name: 'Open menu' }).click();
  const refresh = menu(page).getByRole('button', { name: 'Refresh Profile' });
  await expect(refresh).toBeVisible();
  // Screen readers announce changes only of a live region that exists before its text.
  await expect(menu(page).getByRole('alert')).toBeAttached();
  // The page asks by itself too, so the answer comes after the click.
  await page.route(PROFILE, (route) => released.then(() => route.continue()));
  await refresh.click();
  release();
}

test.describe('a toast in the menu', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('is announced and dismissed by keyboard inside the menu, and outlives a menu that is closed', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await refreshInMenu(page, () => signUp(page));
    // A toast with the focus stays.
    await dismiss(page).focus();
    await expect(menu(page).locator(toast(page))).toBeVisible();
    await expect(dismiss(page)).toBeInViewport({ ratio: 1 });
    await inBothThemes(page, expectAccessible);
    const last = menu(page).getByRole('button', { name: 'Logout' });
    await last.focus();
    await page.keyboard.press('Tab');
    await expect(dismiss(page)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(toast(page)).toHaveCount(0);
    await expect(last).toBeFocused();
    await expect(menu(page)).toBeVisible();

    await refreshInMenu(page, () => page.reload());
    await dismiss(page).hover();
    await expect(toast(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(menu(page)).toHaveCount(0);
    await expect(toast(page)).toBeVisible();
    await dismiss(page).click();
    await expect(toast(page)).toHaveCount(0);
    await expect(editor(page)).toBeVisible();
  });
});

test.describe('on a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 620 } });

  test('a toast of many lines grows over the bar of the day, and covers no text', async ({ page, signUp }) => {
    await signUp(page, { logs: { [today()]: log('a whole day of work') } });
    await page.route('**/rest/v1/entries*', (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in' }));
    await editor(page).tap();
    await page.keyboard.type('and more');
    const proxy = page.getByRole('alert').locator('> *');
    await expect(proxy).toContainText('such as a company sign-in');
    await expect(proxy).toHaveAttribute('data-arrived', 'true');
    const [toastBox, line] = [(await proxy.boundingBox())!, (await items(page).first().boundingBox())!];
    expect(toastBox.y).toBeGreaterThanOrEqual(0);
    expect(toastBox.y + toastBox.height).toBeLessThanOrEqual(line.y);
    await expect(proxy.getByRole('button', { name: 'Reload the page' })).toBeInViewport({ ratio: 1 });
    await expect(proxy.getByRole('button', { name: 'Dismiss' })).toBeInViewport({ ratio: 1 });
  });

  test('a short toast has its button beside the text', async ({ page, signUp }) => {
    await signUp(page, { isCloser: true, path: '/wins' });
    for (const name of ['Collect my wins', 'Link', 'Make a link']) await page.getByRole('button', { name }).tap();
    await page.getByRole('button', { name: /^End the link/ }).tap();
    // The toast stays while the pointer is on it, and has arrived once the pointer can be moved there.
    await dismiss(page).hover();
    const toastBox = (await page.getByRole('status').getByText('The link has ended.').boundingBox())!;
    expect((await dismiss(page).boundingBox())!.y).toBeLessThan(toastBox.y + toastBox.height);
  });

  test('a toast with an action covers neither the bar of the day nor the first line', async ({ page, signUp }) => {
    await signUp(page, { logs: { [today()]: log('a whole day of work') } });
    await expect(items(page)).toHaveText(['a whole day of work']);
    await editor(page).tap();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    const deleted = page.getByRole('status').filter({ hasText: 'was deleted.' }).locator('> *');
    // The toast stays while the pointer is on it.
    await deleted.getByRole('button', { name: 'Undo' }).hover();
    const boxOf = async (part: Locator) => (await part.boundingBox())!;
    const [bar, toastBox, line] = [
      await boxOf(page.getByRole('banner')),
      await boxOf(deleted),
      await boxOf(items(page).first()),
    ];
    expect(toastBox.y).toBeGreaterThanOrEqual(bar.y + bar.height);
    expect(toastBox.y + toastBox.height).toBeLessThanOrEqual(line.y);
    await expect(deleted.getByRole('button', { name: 'Dismiss' })).toBeInViewport({ ratio: 1 });
    await deleted.getByRole('button', { name: 'Undo' }).tap();
    await expect(items(page)).toHaveText(['a whole day of work']);
  });
});
