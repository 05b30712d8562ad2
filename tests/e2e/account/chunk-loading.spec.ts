/** Account pages whose code does not come: whoever types on one stays on it, and a new release has its pages loaded. */
import type { Page } from '@playwright/test';
import { expectFetched, chunkErrorToast, makeChunksStale } from '../support/chunk-loading.ts';
import { expect, test } from '../support/test.ts';

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

const typeAtSignIn = async (page: Page): Promise<void> => {
  await page.goto('/login');
  await page.getByLabel('Email address').fill('ada@example.com');
  await page.getByLabel('Password').fill('half a passw');
  // Gone with the page, if anything loads it again.
  await page.evaluate(() => (document.documentElement.dataset['stays'] = ''));
};

const expectStays = async (page: Page): Promise<void> => {
  await expect(page).toHaveURL('/login');
  await expect(page.locator('html[data-stays]')).toBeAttached();
  await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
  await expect(page.getByLabel('Password')).toHaveValue('half a passw');
};

const SCREENS = [
  { file: 'signup-screen', link: 'Create an account', path: '/signup', title: 'Create your account' },
  {
    file: 'forgot-password-screen',
    link: 'Forgot your password?',
    path: '/forgot-password',
    title: 'Forgot your password?',
  },
] as const;

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED|a part did not come/ });

  for (const screen of SCREENS) {
    test(`${screen.path} that does not come leaves what was typed, and comes with the next click`, async ({
      page,
      context,
    }) => {
      // Also what the page asks for by itself.
      const files = `**/assets/${screen.file}*`;
      await page.route(files, (route) => route.abort('internetdisconnected'));
      await typeAtSignIn(page);
      await context.setOffline(true);
      await page.getByRole('link', { name: screen.link }).click();
      await expect(chunkErrorToast(page)).toBeVisible();
      await expectStays(page);

      await page.unroute(files);
      await context.setOffline(false);
      await page.getByRole('link', { name: screen.link }).click();
      await expect(page).toHaveURL(screen.path);
      await expect(title(page, screen.title)).toBeVisible();
      await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
      await expect(page.locator('html[data-stays]')).toBeAttached();
    });
  }

  test('the other account pages are there before the connection goes', async ({ page, context }) => {
    await typeAtSignIn(page);
    await expectFetched(
      page,
      SCREENS.map(({ file }) => file),
    );
    await context.setOffline(true);
    for (const screen of SCREENS) {
      await page.getByRole('link', { name: screen.link }).click();
      await expect(title(page, screen.title)).toBeVisible();
      await page.goBack();
      await expect(title(page, 'Sign in')).toBeVisible();
    }
  });

  test('a journal that does not come after the password is tried again', async ({
    page,
    context,
    signUp,
    expectAccessible,
  }) => {
    const { email, password } = await signUp(page);
    await page.evaluate(() => localStorage.clear());
    await page.goto('/login');
    const files = '**/assets/{members-layout,journal-route}*';
    await page.route(files, (route) => route.abort('internetdisconnected'));
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    // The connection goes with the answer, and what is asked whether it is there is the page itself.
    await page.route('**/login', (route) => route.abort('internetdisconnected'));
    await page.route('**/journal', (route) => route.abort('internetdisconnected'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(title(page, 'This page could not be loaded.')).toBeVisible();
    await expect(page).toHaveURL('/journal');
    await expectAccessible(page);
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(title(page, 'This page could not be loaded.')).toBeVisible();

    await page.unrouteAll();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
  });
});

test.describe('after a new release has taken its files away', () => {
  test.use({ expectedErrors: /status of 404/ });

  for (const screen of SCREENS) {
    test(`${screen.path} is loaded as a page, with the address that was typed`, async ({ page }) => {
      const release = await makeChunksStale(page, `**/assets/${screen.file}*`);
      await typeAtSignIn(page);
      release();
      await page.getByRole('link', { name: screen.link }).click();
      await expect(title(page, screen.title)).toBeVisible();
      await expect(page).toHaveURL(screen.path);
      await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
      await expect(page.locator('html[data-stays]')).toHaveCount(0);
      await page.goBack();
      await expect(title(page, 'Sign in')).toBeVisible();
      await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
    });
  }

  test('the password opens the journal all the same', async ({ page, signUp }) => {
    const { email, password } = await signUp(page);
    await page.evaluate(() => localStorage.clear());
    const release = await makeChunksStale(page, '**/assets/{members-layout,journal-route}*');
    await page.goto('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    release();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL('/journal');
    await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
  });
});
