/** Overlays and screens are chunks of their own: a chunk that fails, a chunk that loads late, and prefetching. */
import type { Page } from '@playwright/test';
import { daysAgo, editor, items, log as logOf, paste, status } from './support/journal.ts';
import { expectFetched, chunkErrorToast, makeChunksStale, expect, skipToIdleTime, test } from './support/test.ts';
import { endSession } from './support/sign-in.ts';

const reload = (page: Page) => page.getByRole('button', { name: 'Reload the page' });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

type Overlay = { file: string; dialog: string; open: (page: Page) => Promise<unknown> };
const button = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
const key = (keys: string) => (page: Page) => page.keyboard.press(keys);
const OVERLAYS: readonly Overlay[] = [
  { file: 'sidebar', dialog: 'Menu', open: button('Open menu') },
  // One file has both, as the dates to move to are a calendar.
  { file: 'journal-move', dialog: 'Select Date', open: key('Alt+c') },
  { file: 'journal-feedback', dialog: 'HAI Feedback', open: button('Open feedback') },
  { file: 'journal-move', dialog: 'Move this log', open: key('Alt+m') },
  { file: 'journal-find', dialog: 'Find', open: key('ControlOrMeta+k') },
];

/** Screens and the names of their links in the menu. */
const SCREENS = [
  { file: 'reviews-screen', link: 'Hustle Reviews', path: '/reviews', title: 'Hustle Reviews' },
  { file: 'settings-route', link: 'Settings', path: '/settings', title: 'Settings' },
  { file: 'profile-route', link: 'Profile', path: '/profile', title: 'Profile' },
] as const;

const CHUNKS = [
  ...[...OVERLAYS, ...SCREENS].map(({ file }) => file),
  ...['receipt-screen', 'upgrade-dialog', 'sign-in-overlay', 'other-users-drafts', 'conflict-notice'],
];

const openMenu = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Open menu' }).click();
  await expect(dialog(page, 'Menu')).toBeVisible();
};

const openOffer = async (page: Page): Promise<void> => {
  await openMenu(page);
  await page.getByRole('button', { name: 'Upgrade to Closer' }).click();
};

const openScreen = async (page: Page, link: string): Promise<void> => {
  await openMenu(page);
  await dialog(page, 'Menu').getByRole('link', { name: link }).click();
};

const write = async (page: Page, text: string): Promise<void> => {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(text);
};

/** Waits for the error of a chunk without a connection, where a reload would not help, and dismisses it. */
const expectChunkError = async (page: Page): Promise<void> => {
  await expect(chunkErrorToast(page)).toBeVisible();
  await expect(reload(page)).toHaveCount(0);
  await dismissChunkError(page);
};

const dismissChunkError = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(chunkErrorToast(page)).toHaveCount(0);
};

/** The addresses of style sheets that failed to load or, in a preload that goes on, have not loaded yet. */
const lostStyles = (page: Page) =>
  page.evaluate(() => {
    const isLoaded = ({ sheet }: HTMLLinkElement): boolean => {
      try {
        return sheet!.cssRules.length > 0;
      } catch {
        return false;
      }
    };
    const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')];
    return links.filter((link) => !isLoaded(link)).map(({ href }) => href);
  });

/** Aborts all requests for these chunks, also prefetches. Returns a function that lets requests through again. */
async function loseChunks(page: Page, files: readonly string[]): Promise<() => Promise<void>> {
  const urls = files.map((file) => `**/assets/${file}*`);
  for (const url of urls) await page.route(url, (route) => route.abort('internetdisconnected'));
  return async () => {
    for (const url of urls) await page.unroute(url);
  };
}

test.describe('without a connection', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });

  test('an overlay that fails to load leaves the journal usable, and loads on the next try', async ({
    page,
    context,
    signUp,
  }) => {
    const restore = await loseChunks(
      page,
      OVERLAYS.map(({ file }) => file),
    );
    await signUp(page);
    await write(page, 'still here');
    await context.setOffline(true);
    for (const overlay of OVERLAYS) {
      await overlay.open(page);
      await expectChunkError(page);
      await expect(dialog(page, overlay.dialog)).toHaveCount(0);
    }
    await expect(items(page)).toHaveText(['still here']);
    await write(page, ', and more');

    await restore();
    await context.setOffline(false);
    for (const overlay of OVERLAYS) {
      await overlay.open(page);
      await expect(dialog(page, overlay.dialog)).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await expect.poll(() => lostStyles(page)).toEqual([]);
    await expect(items(page)).toHaveText(['still here, and more']);
  });

  test('a screen or an offer that fails to load leaves the journal open, and loads on the next click', async ({
    page,
    context,
    signUp,
  }) => {
    const restore = await loseChunks(page, ['upgrade-dialog', ...SCREENS.map(({ file }) => file)]);
    await signUp(page);
    // Loading a document removes this mark.
    await page.evaluate(() => (document.documentElement.dataset['stays'] = ''));
    await write(page, 'still here');
    await openMenu(page);
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await openOffer(page);
    await expectChunkError(page);
    await page.keyboard.press('Escape');
    for (const { link } of [...SCREENS, SCREENS[0]]) {
      await openScreen(page, link);
      await expectChunkError(page);
      await expect(page).toHaveURL('/journal');
    }
    await expect(items(page)).toHaveText(['still here']);

    await restore();
    await context.setOffline(false);
    await openOffer(page);
    await expect(dialog(page, 'Premium Feature')).toBeVisible();
    await page.keyboard.press('Escape');
    for (const { link, path, title } of SCREENS) {
      await openScreen(page, link);
      await expect(page).toHaveURL(path);
      await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
      await expect.poll(() => lostStyles(page)).toEqual([]);
      await page.goBack();
      await expect(items(page)).toHaveText(['still here']);
    }
    await expect(page.locator('html[data-stays]')).toBeAttached();
  });
});

test.describe('a panel or a dialog of a page', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });

  test('that fails to load leaves the page usable, and loads on the next click', async ({ page, signUp }) => {
    const restore = await loseChunks(page, ['access-tokens-panel', 'share-dialog']);
    await signUp(page, { isCloser: true, logs: { [daysAgo(1)]: logOf('Shipped it') }, path: '/wins' });
    await page.getByRole('button', { name: 'Collect my wins' }).click();
    const share = page.getByRole('button', { name: 'Link', exact: true });
    await share.click();
    await dismissChunkError(page);
    await page.goto('/settings');
    const manage = page.getByRole('button', { name: 'Manage tokens' });
    await manage.click();
    await dismissChunkError(page);

    await restore();
    await manage.click();
    await expect(page.getByText('You have no tokens.')).toBeVisible();
    await page.goBack();
    await share.click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expect.poll(() => lostStyles(page)).toEqual([]);
  });
});

test.describe('pasted Markdown whose parser fails to load', () => {
  test.use({ expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });

  test('becomes lines, and the next paste is formatted', async ({ page, signUp }) => {
    const restore = await loseChunks(page, ['parse-markdown']);
    await signUp(page);
    await paste(page, { 'text/plain': '**Fixed** the login\n**Wrote** the tests' });
    await expect(items(page)).toHaveText(['**Fixed** the login', '**Wrote** the tests']);
    await restore();
    await page.keyboard.press('Enter');
    await paste(page, { 'text/plain': '- [x] **Shipped** it\n- [ ] Rest' });
    await expect(items(page)).toHaveText(['**Fixed** the login', '**Wrote** the tests', '[x] Shipped it', '[ ] Rest']);
    await expect(editor(page).locator('strong')).toHaveText('Shipped');
  });
});

test.describe('an idle page', () => {
  test.use({ isIdle: true, expectedErrors: /net::ERR_INTERNET_DISCONNECTED/ });
  test.beforeEach(({ context }) => context.clock.install());

  test('all chunks are prefetched and work offline', async ({ page, context, signUp }) => {
    await signUp(page);
    await skipToIdleTime(page);
    await expectFetched(page, CHUNKS);
    await context.setOffline(true);
    for (const overlay of OVERLAYS) {
      await overlay.open(page);
      await expect(dialog(page, overlay.dialog)).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await openOffer(page);
    await expect(dialog(page, 'Premium Feature')).toBeVisible();
    await page.keyboard.press('Escape');
    for (const { link, title } of SCREENS) {
      await openScreen(page, link);
      await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
      await page.goBack();
      await expect(editor(page)).toBeVisible();
    }
  });
});

test.describe('a failed chunk of the sign-in overlay', () => {
  test.use({ expectedErrors: /net::ERR_FAILED/ });

  test('loads with the next click, and the unsaved text is saved after the password', async ({ page, signUp }) => {
    await page.route('**/assets/sign-in-overlay*', (route) => route.abort());
    const { password } = await signUp(page);
    await write(page, 'half a thought');
    await endSession(page);
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(items(page)).toHaveText(['half a thought']);
    await page.unroute('**/assets/sign-in-overlay*');
    await editor(page).click();
    const overlay = dialog(page, 'Sign in again');
    await overlay.getByLabel('Password').fill(password);
    await overlay.getByRole('button', { name: 'Sign in' }).click();
    await expect(overlay).toHaveCount(0);
    await expect(status(page, /^Saved/)).toBeVisible();
    await expect(items(page)).toHaveText(['half a thought']);
  });
});

test.describe('after a release removed the chunks', () => {
  test.use({ expectedErrors: /status of 404|net::ERR_FAILED/ });

  test('an overlay offers a reload and a screen loads as a new page, both without losing unsaved text', async ({
    page,
    signUp,
    expectAccessible,
  }) => {
    const ENTRIES = '**/rest/v1/entries*';
    await page.route('**/assets/sidebar*', (route) => route.fulfill({ status: 404 }));
    await signUp(page);
    await page.route(ENTRIES, (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()));
    await write(page, 'not saved yet');
    await page.getByRole('button', { name: 'Open menu' }).click();
    await expect(chunkErrorToast(page)).toBeVisible();
    await expect(reload(page)).toBeVisible();
    await expectAccessible(page);
    await expect(items(page)).toHaveText(['not saved yet']);

    await page.unroute('**/assets/sidebar*');
    const release = await makeChunksStale(page, '**/assets/settings-route*');
    await reload(page).click();
    await expect(chunkErrorToast(page)).toHaveCount(0);
    await expect(items(page)).toHaveText(['not saved yet']);

    await openMenu(page);
    release();
    await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
    await expect(page).toHaveURL('/settings');
    await page.goBack();
    await expect(items(page)).toHaveText(['not saved yet']);
    await page.unroute(ENTRIES);
    await write(page, '!');
    await expect(status(page, /^Saved/)).toBeVisible();
  });
});

test('a day that is opened while a screen loads stays open', async ({ page, signUp }) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/assets/settings-route*', async (route) => {
    await released;
    await route.continue();
  });
  await signUp(page);
  await openMenu(page);
  const requested = page.waitForRequest('**/assets/settings-route*.js');
  const loaded = page.waitForEvent('requestfinished', (request) => /settings-route[^/]*\.js$/.test(request.url()));
  await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
  await requested;
  await page.getByRole('button', { name: 'Previous day' }).click();
  await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
  release();
  await loaded;
  await openMenu(page);
  await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
  await dialog(page, 'Menu').getByRole('link', { name: 'Settings' }).click();
  await expect(page).toHaveURL('/settings');
});

test('no key that is meant for an overlay reaches the log while the overlay loads, and none is lost after it', async ({
  page,
  signUp,
}) => {
  const holdChunk = async (files: string): Promise<() => void> => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(files, async (route) => {
      await released;
      await route.continue();
    });
    return release;
  };
  const releaseCalendar = await holdChunk('**/assets/journal-move*');
  const releaseFind = await holdChunk('**/assets/journal-find*');
  await signUp(page);
  await write(page, 'mine');

  await test.step('focus returns to the log in the same task that opens the overlay', async () => {
    await page.keyboard.press('Alt+c');
    await expect(editor(page)).not.toBeFocused();
    await editor(page).evaluate((log) => {
      const channel = new MessageChannel();
      channel.port1.addEventListener('message', () => {
        document.documentElement.dataset['covered'] = String(document.querySelector('dialog[open]') !== null);
      });
      channel.port1.start();
      // The message arrives in a task right after that of the focus event, before any key press is handled.
      log.addEventListener('focusin', () => channel.port2.postMessage(null), { once: true });
    });
    releaseCalendar();
    await expect(page.locator('html')).toHaveAttribute('data-covered', 'true');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('keys while the overlay loads', async () => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('miller');
    releaseFind();
    await expect(dialog(page, 'Find')).toBeVisible();
    await expect(items(page)).toHaveText(['mine']);
    await page.keyboard.press('Escape');
    await page.keyboard.type(', and more');
    await expect(items(page)).toHaveText(['mine, and more']);
  });

  await test.step('the first key after the overlay closes', async () => {
    await page.keyboard.press('ControlOrMeta+k');
    await expect(dialog(page, 'Find')).toBeVisible();
    await editor(page).evaluate((log) => {
      // The microtask inserts text before any key press after the focus event could be handled.
      log.addEventListener('focus', () => queueMicrotask(() => document.execCommand('insertText', false, '!')), {
        once: true,
      });
    });
    await page.keyboard.press('Escape');
    await expect(items(page)).toHaveText(['mine, and more!']);
  });
});
