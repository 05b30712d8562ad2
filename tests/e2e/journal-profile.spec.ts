/** The journal while its owner's profile is late or missing. */
import { editor, items } from '../support/journal-story.ts';
import { expect, test } from '../support/story.ts';

test('a profile that is late does not keep anybody from writing today', async ({ page, signUp }) => {
  await signUp(page);
  await page.keyboard.type('first');
  await page.keyboard.press('Alt+ArrowLeft');
  await page.keyboard.press('Alt+ArrowRight');
  await expect(items(page)).toHaveText(['first']);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/rest/v1/profiles*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/journal');
  await expect(editor(page)).toBeVisible();
  await expect(items(page)).toHaveText(['first']);
  release();
});

test('a missing profile is said and can be read again; the page stays', async ({ page, signUp }) => {
  await signUp(page);
  await page.route('**/rest/v1/profiles*', (route) => route.fulfill({ json: [] }));
  await page.reload();
  await expect(page.getByText('Refreshing profile...')).toBeVisible();
  await expect(editor(page)).toBeVisible();
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expect(page.getByText('Failed to refresh profile. Please try again.')).toBeVisible();
  await page.unroute('**/rest/v1/profiles*');
  await page.getByRole('button', { name: 'Refresh Profile' }).click();
  await expect(page.getByText('Profile refreshed successfully!')).toBeVisible();
  await expect(page.getByText('Refreshing profile...')).toBeHidden();
});
