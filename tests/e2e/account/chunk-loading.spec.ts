/**
 * The chunk of the next page cannot be loaded. Without a connection, the page and its typed values stay; after a
 * sign-in, an error screen offers a retry. After a release removed the chunk, the browser loads the next page as a new
 * document and keeps the typed address.
 */
import type { Page } from '@playwright/test';
import { expectFetched, chunkErrorToast, makeChunksStale, expect, skipToIdleTime, test } from '../support/test.ts';
import { editor } from '../support/journal.ts';

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

const SIGN_UP = { files: '**/assets/signup-screen*', link: 'Create an account', title: 'Create your account' };

const JOURNAL_FILES = '**/assets/{members,journal}-*.js';

const typeAtSignIn = async (page: Page, email = 'ada@example.com'): Promise<void> => {
  await page.goto('/login');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill('half a passw');
  // Loading a document removes this mark.
  await page.evaluate(() => (document.documentElement.dataset['stays'] = ''));
};

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED|a chunk could not be loaded/ });

  test('a chunk that fails keeps the typed values and loads with the next click', async ({ page, context }) => {
    await page.route(SIGN_UP.files, (route) => route.abort('internetdisconnected'));
    await typeAtSignIn(page);
    await context.setOffline(true);
    await page.getByRole('link', { name: SIGN_UP.link }).click();
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(page).toHaveURL('/login');
    await expect(page.locator('html[data-stays]')).toBeAttached();
    await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
    await expect(page.getByLabel('Password')).toHaveValue('half a passw');

    await page.unroute(SIGN_UP.files);
    await context.setOffline(false);
    await page.getByRole('link', { name: SIGN_UP.link }).click();
    await expect(page).toHaveURL('/signup');
    await expect(title(page, SIGN_UP.title)).toBeVisible();
    await expect(page.getByLabel('Email address')).toHaveValue('ada@example.com');
    await expect(page.locator('html[data-stays]')).toBeAttached();
  });

  test('a journal chunk that fails after sign-in shows an error screen and loads on retry', async ({
    page,
    context,
    accounts,
    expectAccessible,
  }) => {
    const { email, password } = (await accounts.create()).person;
    // Before the page prefetches the journal.
    await page.route(JOURNAL_FILES, (route) => route.abort('internetdisconnected'));
    await page.goto('/login');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    // After a failed chunk the app requests its own page to find out whether the server is reachable. That fails, too.
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
    await expect(editor(page)).toBeVisible();
  });
});

test.describe('an idle sign-in page', () => {
  test.use({ isIdle: true, expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });
  test.beforeEach(({ context }) => context.clock.install());

  test('prefetches the other chunks, which work offline', async ({ page, context }) => {
    await page.goto('/login');
    await expect(title(page, 'Sign in')).toBeVisible();
    await skipToIdleTime(page);
    await expectFetched(page, ['signup-screen', 'forgot-password-screen']);
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await expect(title(page, 'Forgot your password?')).toBeVisible();
  });
});

test.describe('after a release removed the chunks', () => {
  test.use({ expectedErrors: /status of 404/ });

  test('an account page is loaded as a new page with the typed address, and so is the journal', async ({
    page,
    accounts,
  }) => {
    const { email, password } = (await accounts.create()).person;
    const releases = [await makeChunksStale(page, SIGN_UP.files), await makeChunksStale(page, JOURNAL_FILES)];
    await typeAtSignIn(page, email);
    releases[0]!();
    await page.getByRole('link', { name: SIGN_UP.link }).click();
    await expect(title(page, SIGN_UP.title)).toBeVisible();
    await expect(page).toHaveURL('/signup');
    await expect(page.getByLabel('Email address')).toHaveValue(email);
    await expect(page.locator('html[data-stays]')).toHaveCount(0);
    await page.goBack();
    await expect(title(page, 'Sign in')).toBeVisible();
    await expect(page.getByLabel('Email address')).toHaveValue(email);

    await page.getByLabel('Password').fill(password);
    await page.evaluate(() => (document.documentElement.dataset['stays'] = ''));
    releases[1]!();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL('/journal');
    await expect(editor(page)).toBeVisible();
    await expect(page.locator('html[data-stays]')).toHaveCount(0);
  });
});
