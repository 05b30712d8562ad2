/** The frame of a page, which the server sends and which shows before React has rendered the screen in its place. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

/** Holds the app's code until the returned function is called. */
async function holdApp(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/main-*.js', async (route) => {
    await released;
    await route.fallback();
  });
  return () => release();
}

const frame = (page: Page) => page.locator('#page-frame');
const box = (page: Page, within: string) => page.locator(`${within} h1`).boundingBox();

for (const viewport of [
  { width: 360, height: 620 },
  { width: 1280, height: 800 },
]) {
  test.describe(`${viewport.width} pixels wide`, () => {
    test.use({ viewport });

    for (const [path, title] of [
      ['/login', 'Sign in'],
      ['/signup', 'Create your account'],
    ] as const) {
      test(`${path} shows its frame, then the form in the same place`, async ({ page }) => {
        const release = await holdApp(page);
        await page.goto(path);
        await expect(frame(page).locator('h1')).toHaveText(title);
        await page.evaluate(() => document.fonts.ready);
        const before = await box(page, '#page-frame');
        const field = await frame(page).getByText('Email address').boundingBox();
        await expect(page.getByRole('heading'), 'the frame is no content').toHaveCount(0);
        release();
        await expect(page.getByRole('heading', { name: title })).toBeVisible();
        await expect(frame(page)).toHaveCount(0);
        expect(await box(page, '#root')).toEqual(before);
        expect(await page.locator('label', { hasText: 'Email address' }).boundingBox()).toEqual(
          expect.objectContaining({ x: field!.x, y: field!.y }),
        );
      });
    }

    test('the pages of a user show their frames, then the screens in the same place', async ({ page, signUp }) => {
      await signUp(page);
      for (const [path, title] of [
        ['/reviews', 'Hustle Reviews'],
        ['/settings', 'Settings'],
        ['/profile', 'Profile'],
      ] as const) {
        const release = await holdApp(page);
        await page.goto(path);
        await expect(frame(page).locator('h1')).toHaveText(title);
        await page.evaluate(() => document.fonts.ready);
        const before = await box(page, '#page-frame');
        const intro = path === '/settings' ? await frame(page).getByText('Bring your past').boundingBox() : null;
        release();
        await expect(page.getByRole('heading', { name: title })).toBeVisible();
        await expect(frame(page)).toHaveCount(0);
        expect(await box(page, '#root'), path).toEqual(before);
        if (intro) expect(await page.getByText('Bring your past').boundingBox()).toEqual(intro);
        await page.unrouteAll({ behavior: 'wait' });
      }
    });
  });
}

test('a page that the guard replaces shows no frame', async ({ page, signUp }) => {
  await holdApp(page);
  await page.goto('/settings');
  await expect(frame(page)).toBeHidden();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await signUp(page);
  await holdApp(page);
  await page.goto('/login');
  await expect(frame(page)).toBeHidden();
});
