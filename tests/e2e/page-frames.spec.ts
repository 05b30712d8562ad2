/** The frame of a page, which the server sends and which shows before React has rendered the screen in its place. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

/** Holds the app's code until the returned function is called. */
async function holdApp(page: Page): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/shell-*.js', async (route) => {
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

test('the first visit loads the serif font after the screen', async ({ page }) => {
  const fonts: string[] = [];
  page.on('request', (request) => request.resourceType() === 'font' && fonts.push(request.url()));
  const release = await holdApp(page);
  await page.goto('/login');
  await expect(frame(page).locator('h1')).toHaveText('Sign in');
  await page.evaluate(() => document.fonts.ready);
  expect(fonts.filter((url) => url.includes('newsreader'))).toEqual([]);
  release();
  await expect.poll(() => fonts.join()).toContain('newsreader');
  await expect(page.getByRole('heading', { name: 'Sign in' })).toHaveCSS('font-family', /^"?Newsreader"?,/);
});

test('the first key in a form requests the editor together with the journal', async ({ page }) => {
  const scripts: string[] = [];
  page.on('request', (request) => scripts.push(request.url()));
  // Never answered: only the app's own code may name the editor.
  await page.route('**/assets/journal-*.js', () => undefined);
  await page.goto('/signup');
  await expect(frame(page)).toHaveCount(0);
  await page.getByLabel('Full name').pressSequentially('A');
  await expect.poll(() => scripts.join()).toContain('/assets/editor-');
});

test.describe('a form takes keys before its code has loaded', () => {
  test('and the typed text, the caret and the accepted terms stay', async ({ page }) => {
    const release = await holdApp(page);
    await page.goto('/signup');
    await expect(page.getByLabel('Full name')).toBeFocused();
    await page.keyboard.type('Ada');
    await page.getByLabel('Email address').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('correct horse');
    await page.getByRole('checkbox').check();
    await page.getByLabel('Full name').focus();
    await page.keyboard.press('Home');
    release();
    await expect(frame(page)).toHaveCount(0);
    await page.keyboard.type('Dr. ');
    await expect(page.getByLabel('Full name')).toHaveValue('Dr. Ada');
    await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
    await expect(page.getByLabel('Password', { exact: true })).toHaveValue('correct horse');
    await expect(page.getByRole('checkbox')).toBeChecked();
    await expect(page.getByRole('button', { name: 'Create account' }).last()).toBeEnabled();
  });

  test('and a submit waits for it', async ({ page, signUp }) => {
    const { email, password } = await signUp(page);
    await page.context().clearCookies();
    await page.evaluate(() => localStorage.clear());
    const release = await holdApp(page);
    await page.goto('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await expect(page.locator('form[aria-busy]')).toBeVisible();
    expect(new URL(page.url()).search).toBe('');
    release();
    await expect(page).toHaveURL(/\/journal/);
  });

  test('and a submit of an empty form names what is missing', async ({ page }) => {
    const release = await holdApp(page);
    await page.goto('/login');
    await page.getByRole('button', { name: 'Sign in' }).click();
    release();
    await expect(page.getByRole('alert').first()).toBeVisible();
    await expect(page.getByLabel('Email address')).toBeFocused();
  });
});

test.describe('a page whose code does not arrive', () => {
  const note = (page: Page) => page.getByText('This page has not loaded completely yet.');

  test.describe('because a file fails', () => {
    test('says so and offers to load it again', async ({ context }) => {
      // Not a page that fails the test because it reports an error.
      const page = await context.newPage();
      await page.route('**/assets/shell-*.js', (route) => route.abort());
      await page.goto('/login');
      await expect(note(page)).toBeVisible();
      await page.unroute('**/assets/shell-*.js');
      await page.getByRole('link', { name: 'Load it again' }).click();
      await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible();
      await expect(frame(page)).toHaveCount(0);
      await expect(note(page)).toBeHidden();
    });
  });

  test('because the connection is slow says so until it arrives', async ({ page }) => {
    await page.clock.install();
    const release = await holdApp(page);
    await page.goto('/login');
    await expect(frame(page).locator('h1')).toBeVisible();
    await expect(note(page)).toBeHidden();
    await page.clock.runFor(15_000);
    await expect(note(page)).toBeVisible();
    release();
    await expect(frame(page)).toHaveCount(0);
    await expect(note(page)).toBeHidden();
  });
});

test.describe('without scripts and styles', () => {
  test.use({ javaScriptEnabled: false });

  for (const path of ['/login', '/signup'])
    test(`the form of ${path} puts no password into the address`, async ({ page }) => {
      await page.route('**/*.css', (route) => route.fulfill({ contentType: 'text/css', body: '' }));
      await page.goto(path);
      const password = page.locator('input[name=password]');
      await password.fill('a-secret-of-mine');
      await page.locator('button[type=submit]').click();
      await expect(password).toHaveValue('');
      expect(new URL(page.url())).toMatchObject({ pathname: path, search: '' });
    });
});
