/** What is said while something lies over the page: a modal dialog makes all of the page behind it dumb and deaf. */
import type { Locator, Page } from '@playwright/test';
import { editor } from './support/journal.ts';
import { inBothThemes } from './support/themes.ts';
import { expect, test } from './support/test.ts';

const PROFILE = '**/rest/v1/profiles*';
const REFRESHED = 'Profile refreshed successfully!';

const menu = (page: Page): Locator => page.getByRole('dialog', { name: 'Menu' });
const dismiss = (page: Page): Locator => page.getByRole('button', { name: 'Dismiss' });

test.describe('a plan that is read again in the menu', () => {
  test.use({ expectedErrors: /status of 503/ });

  test('is said where it is heard and can be sent away', async ({ page, signUp, expectAccessible }) => {
    await signUp(page);
    await page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }));
    await page.goto('/journal');
    await page.getByRole('button', { name: 'Open menu' }).click();
    const refresh = menu(page).getByRole('button', { name: 'Refresh Profile' });
    await expect(refresh).toBeVisible();
    await page.unroute(PROFILE);
    // In the menu before anything is said: what is added with its words is not read out.
    await expect(menu(page).getByRole('alert')).toBeAttached();
    await refresh.click();
    await expect(menu(page).getByRole('status').filter({ hasText: REFRESHED })).toBeVisible();
    // A word that somebody stands on stays.
    await dismiss(page).focus();
    await expect(dismiss(page)).toBeInViewport({ ratio: 1 });
    await inBothThemes(page, expectAccessible);
    // The keys reach it from the last thing in the menu, and are back there when it is gone.
    const last = menu(page).getByRole('button', { name: 'Logout' });
    await last.focus();
    await page.keyboard.press('Tab');
    await expect(dismiss(page)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByText(REFRESHED)).toHaveCount(0);
    await expect(last).toBeFocused();
    await expect(menu(page)).toBeVisible();
  });

  test('goes on being said when the menu closes', async ({ page, signUp }) => {
    await signUp(page);
    await page.route(PROFILE, (route) => route.fulfill({ status: 503, json: {} }));
    await page.goto('/journal');
    await page.getByRole('button', { name: 'Open menu' }).click();
    const refresh = menu(page).getByRole('button', { name: 'Refresh Profile' });
    await expect(refresh).toBeVisible();
    await page.unroute(PROFILE);
    await refresh.click();
    await expect(page.getByText(REFRESHED)).toBeVisible();
    await dismiss(page).hover();
    await page.keyboard.press('Escape');
    await expect(menu(page)).toHaveCount(0);
    await expect(page.getByRole('status').filter({ hasText: REFRESHED })).toBeVisible();
    await dismiss(page).click();
    await expect(page.getByText(REFRESHED)).toHaveCount(0);
    await expect(editor(page)).toBeVisible();
  });
});
