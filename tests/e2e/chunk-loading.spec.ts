/** What lies over the journal is fetched apart: here it does not come, comes at last, or was there before the network went. */
import type { Page } from '@playwright/test';
import { daysAgo, editor, items, status } from './support/journal.ts';
import { expectFetched, chunkErrorToast, makeChunksStale } from './support/chunk-loading.ts';
import { endSession } from './support/session.ts';
import { expect, test } from './support/test.ts';

const reload = (page: Page) => page.getByRole('button', { name: 'Reload the page' });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

type Part = { file: string; dialog: string; open: (page: Page) => Promise<unknown> };
const button = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
const key = (keys: string) => (page: Page) => page.keyboard.press(keys);
const PARTS: readonly Part[] = [
  { file: 'sidebar', dialog: 'Menu', open: button('Open menu') },
  { file: 'calendar-dialog', dialog: 'Select Date', open: key('Alt+c') },
  { file: 'journal-feedback', dialog: 'HAI Feedback', open: button('Open feedback') },
  { file: 'journal-move', dialog: 'Move this log', open: key('Alt+m') },
  { file: 'journal-find', dialog: 'Find', open: key('ControlOrMeta+k') },
];

/** Whole screens, and how each is reached from the menu. */
const SCREENS = [
  { file: 'reviews-route', link: 'Hustle Reviews', path: '/reviews', title: 'Hustle Reviews' },
  { file: 'settings-route', link: 'Settings', path: '/settings', title: 'Settings' },
  { file: 'profile-route', link: 'Profile', path: '/profile', title: 'Profile' },
] as const;

const FILES = [...PARTS, ...SCREENS].map(({ file }) => file);
const ALL = [...FILES, 'receipt-screen', 'upgrade-dialog', 'sign-in-overlay', 'other-users-drafts'];

const openMenu = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(dialog(page, 'Menu')).toBeVisible();
};

const write = async (page: Page, text: string): Promise<void> => {
  await editor(page).click();
  await page.keyboard.type(text);
};

/** The style sheets that were asked for and are not there. */
const stylesLost = (page: Page) =>
  page.evaluate(() => {
    const isThere = ({ sheet }: HTMLLinkElement): boolean => {
      try {
        return sheet!.cssRules.length > 0;
      } catch {
        return false;
      }
    };
    const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')];
    return links.filter((link) => !isThere(link)).map(({ href }) => href);
  });

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });

  for (const part of PARTS) {
    test(`${part.dialog} that does not come leaves the journal, and comes with the next try`, async ({
      page,
      context,
      signUp,
    }) => {
      // Also what the page asks for by itself.
      const files = `**/assets/${part.file}*`;
      await page.route(files, (route) => route.abort('internetdisconnected'));
      await signUp(page);
      await write(page, 'still here');
      await context.setOffline(true);
      await part.open(page);
      await expect(chunkErrorToast(page)).toBeVisible();
      await expect(reload(page)).toHaveCount(0);
      await expect(dialog(page, part.dialog)).toHaveCount(0);
      await expect(items(page)).toHaveText(['still here']);
      await write(page, ', and more');

      await page.unroute(files);
      await context.setOffline(false);
      await part.open(page);
      await expect(dialog(page, part.dialog)).toBeVisible();
      expect(await stylesLost(page)).toEqual([]);
      await expect(items(page)).toHaveText(['still here, and more']);
    });
  }

  test('the offer that does not come leaves the menu, and comes with the next try', async ({
    page,
    context,
    signUp,
  }) => {
    await page.route('**/assets/upgrade-dialog*', (route) => route.abort('internetdisconnected'));
    await signUp(page);
    await write(page, 'still here');
    const upgrade = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Open menu' }).click();
      await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
    };
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(dialog(page, 'Menu')).toBeVisible();
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await upgrade();
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(items(page)).toHaveText(['still here']);
    await page.unroute('**/assets/upgrade-dialog*');
    await context.setOffline(false);
    await upgrade();
    await expect(dialog(page, 'Premium Feature')).toBeVisible();
    expect(await stylesLost(page)).toEqual([]);
  });

  for (const screen of SCREENS) {
    test(`${screen.link} that does not come leaves the journal, and comes with the next click`, async ({
      page,
      context,
      signUp,
    }) => {
      const files = `**/assets/${screen.file}*`;
      await page.route(files, (route) => route.abort('internetdisconnected'));
      await signUp(page);
      // Gone with the page, if anything loads it again or leaves it.
      await page.evaluate(() => (document.documentElement.dataset['stays'] = ''));
      await write(page, 'still here');
      const go = async (): Promise<void> => {
        await openMenu(page);
        await dialog(page, 'Menu').getByRole('link', { name: screen.link }).click();
      };
      await openMenu(page);
      await page.keyboard.press('Escape');
      await context.setOffline(true);
      for (let tries = 0; tries < 2; tries += 1) {
        await go();
        await expect(chunkErrorToast(page)).toBeVisible();
        // It leaves by itself, so that the next one is seen to be new.
        await expect(chunkErrorToast(page)).toHaveCount(0);
      }
      await expect(page).toHaveURL('/journal');
      await expect(items(page)).toHaveText(['still here']);

      await page.unroute(files);
      await context.setOffline(false);
      await go();
      await expect(page).toHaveURL(screen.path);
      await expect(page.getByRole('heading', { level: 1, name: screen.title })).toBeVisible();
      expect(await stylesLost(page)).toEqual([]);
      await page.goBack();
      await expect(items(page)).toHaveText(['still here']);
      await expect(page.locator('html[data-stays]')).toBeAttached();
    });
  }

  test('a day that is opened while a screen is on its way stays open', async ({ page, signUp }) => {
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    await page.route('**/assets/settings-route*', async (route) => {
      await letGo;
      await route.continue();
    });
    await signUp(page);
    await openMenu(page);
    const asked = page.waitForRequest('**/assets/settings-route*.js');
    const came = page.waitForEvent('requestfinished', (request) => /settings-route[^/]*\.js$/.test(request.url()));
    await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
    await asked;
    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
    resolve();
    await came;
    await openMenu(page);
    await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
    await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
    await expect(page).toHaveURL('/settings');
  });

  test('everything is there before the connection goes', async ({ page, context, signUp }) => {
    await signUp(page);
    await expectFetched(page, ALL);
    await context.setOffline(true);
    for (const part of PARTS) {
      await part.open(page);
      await expect(dialog(page, part.dialog)).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
    await expect(dialog(page, 'Premium Feature')).toBeVisible();
    await page.keyboard.press('Escape');
    for (const screen of SCREENS) {
      await openMenu(page);
      await dialog(page, 'Menu').getByRole('link', { name: screen.link }).click();
      await expect(page.getByRole('heading', { level: 1, name: screen.title })).toBeVisible();
      await page.goBack();
      await expect(editor(page)).toBeVisible();
    }
  });
});

test.describe('when a part does not come to somebody whose session has ended', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('the question for the password is asked with the next touch', async ({ page, signUp }) => {
    await page.route('**/assets/sign-in-overlay*', (route) => route.abort());
    const { password } = await signUp(page);
    await write(page, 'half a thought');
    await endSession(page);
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(items(page)).toHaveText(['half a thought']);
    await page.unroute('**/assets/sign-in-overlay*');
    await editor(page).click();
    const again = dialog(page, 'Sign in again');
    await again.getByLabel('Password').fill(password);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await expect(again).toHaveCount(0);
    await expect(status(page, /^Saved/)).toBeVisible();
    await expect(items(page)).toHaveText(['half a thought']);
  });
});

test.describe('after a new release has taken its file away', () => {
  test.use({ expectedErrors: /status of 404|net::ERR_FAILED/ });

  test('the page can be loaded again, and what was not saved is still there', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    await page.route('**/assets/sidebar*', (route) => route.fulfill({ status: 404 }));
    await signUp(page);
    await page.route('**/rest/v1/entries*', (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.abort(),
    );
    await write(page, 'not saved yet');
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(reload(page)).toBeVisible();
    await expectAccessible(page);
    await expect(items(page)).toHaveText(['not saved yet']);

    await page.unroute('**/assets/sidebar*');
    await reload(page).click();
    await expect(chunkErrorToast(page)).toHaveCount(0);
    await expect(items(page)).toHaveText(['not saved yet']);
    await page.unroute('**/rest/v1/entries*');
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(dialog(page, 'Menu')).toBeVisible();
    await page.keyboard.press('Escape');
    await write(page, '!');
    await expect(status(page, /^Saved/)).toBeVisible();
  });

  test('a screen is loaded as a page, and what was not saved is still there', async ({ page, signUp }) => {
    const release = await makeChunksStale(page, '**/assets/settings-route*');
    await signUp(page);
    await page.route('**/rest/v1/entries*', (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.abort(),
    );
    await write(page, 'not saved yet');
    await openMenu(page);
    release();
    await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    await expect(page).toHaveURL('/settings');
    await page.goBack();
    await expect(items(page)).toHaveText(['not saved yet']);
    await page.unroute('**/rest/v1/entries*');
    await write(page, '!');
    await expect(status(page, /^Saved/)).toBeVisible();
  });
});

test('the log has no moment between the keys it gets back and the part that opens', async ({ page, signUp }) => {
  const come = Promise.withResolvers<void>();
  await page.route('**/assets/calendar-dialog*', async (route) => {
    await come.promise;
    await route.continue();
  });
  await signUp(page);
  await editor(page).click();
  await page.keyboard.press('Alt+c');
  await expect(editor(page)).not.toBeFocused();
  await editor(page).evaluate((log) => {
    const channel = new MessageChannel();
    channel.port1.addEventListener('message', () => {
      document.documentElement.dataset['covered'] = String(document.querySelector('dialog[open]') !== null);
    });
    channel.port1.start();
    // The first task after the focus, as a key would be.
    log.addEventListener('focusin', () => channel.port2.postMessage(null), { once: true });
  });
  come.resolve();
  await expect(page.locator('html')).toHaveAttribute('data-covered', 'true');
});

test('what is typed for a part on its way is not written into the log, and the log has the keys again', async ({
  page,
  signUp,
}) => {
  const come = Promise.withResolvers<void>();
  await page.route('**/assets/journal-find*', async (route) => {
    await come.promise;
    await route.continue();
  });
  await signUp(page);
  await write(page, 'mine');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('miller');
  come.resolve();
  await expect(dialog(page, 'Find')).toBeVisible();
  await expect(items(page)).toHaveText(['mine']);
  await page.keyboard.press('Escape');
  await page.keyboard.type(', and more');
  await expect(items(page)).toHaveText(['mine, and more']);
});

test('the first key after a part has closed is written where the caret was', async ({ page, signUp }) => {
  await signUp(page);
  await write(page, 'mine');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(dialog(page, 'Find')).toBeVisible();
  await editor(page).evaluate((log) => {
    // No key of a keyboard is as early as this.
    log.addEventListener('focus', () => queueMicrotask(() => document.execCommand('insertText', false, '!')), {
      once: true,
    });
  });
  await page.keyboard.press('Escape');
  await expect(items(page)).toHaveText(['mine!']);
});
