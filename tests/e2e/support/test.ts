/**
 * The fixtures of every end-to-end test: a page that fails the test when it logs an error, breaks the content security
 * policy or throws; a signed-in user; checks of accessibility, width and loaded chunks; an operator's command.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Page, type Locator, type Route } from '@playwright/test';
import type { Day } from '#domain/day/day.ts';
import { sessionStorageKey } from '#client/lib/session/storage-keys.ts';
import { runAdminCommand } from '#server/admin.ts';
import { openAccounts, type Accounts, type NewPerson, type Person, type SeededAccount } from './accounts.ts';
import { startProduct, type Product } from '../../support/product.ts';

export { expect };

export type { Person };

/** Only the colour rules depend on the theme. */
export type AxeRules = 'all' | 'contrast';

type WorkerFixtures = {
  /** Settings of the server. A file that changes them has a worker, and so a server, of its own. */
  serverSettings: Readonly<Record<string, string>>;
  /** The worker's own server, so that no test meets the mails, payments or model faults of another worker's test. */
  server: Product;
  accounts: Accounts;
};

type Seeds = {
  /** The page that is opened, the journal if not given. */
  path?: string;
  /** Gives the paid plan (Closer) without an end. */
  isCloser?: boolean;
  /** The logs that the user has written before the page is opened. */
  logs?: Readonly<Record<Day, string>>;
};

type Fixtures = {
  /**
   * Whether the pages get idle time, in which they preload all chunks, register the service worker and connect to live
   * updates. Costs as much CPU time as a page load, so most tests run in a browser that is never idle.
   */
  isIdle: boolean;
  /** Console errors that the test expects, such as the failed requests of an offline page. */
  expectedErrors: RegExp | null;
  /** Remembers the toasts of a page, and fails the test if the page logs an error. `page` is watched from the start. */
  watchPage: (page: Page) => Promise<void>;
  /** Seeds an account with a session and opens the journal, or another page, as its user. */
  signUp: (page: Page, given?: NewPerson & Seeds) => Promise<Person>;
  /** Opens the journal, until it is editable, or another page with the session of a seeded account. */
  openAs: (page: Page, account: SeededAccount, path?: string) => Promise<void>;
  /** Fails if axe finds violations of WCAG 2.2 AA or of its best practices; `contrast` runs only the colour rules. */
  expectAccessible: (page: Page, rules?: AxeRules) => Promise<void>;
  /** Runs `npm run admin -- ...` against the worker's server, in this process. Returns the printed line. */
  admin: (...args: string[]) => Promise<string>;
};

/** Matches the error that the browser logs for every 4xx answer. An API's 4xx answer alone does not fail a test. */
const REFUSED_REQUEST = /^Failed to load resource: the server responded with a status of 4\d\d/;
/** auth-js logs the refusal of a session that has ended if a second caller waits for the same renewal. */
const REFUSED_RENEWAL = /^AuthApiError: Refresh token is not valid/;

const SERVER_START_TIMEOUT_MS = 180_000;

/** Evaluated once for each document. AxeBuilder would evaluate its 650 KB twice for each check. */
const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);
const AXE_IS_LOADED = 'undefined';

const TOASTS_KEY = 'e2e-toasts';

/** Runs in the page, as an init script: it never gets idle time, whatever `isIdle` says. */
export function reportNoIdleTime(): void {
  window.requestIdleCallback = () => 0;
}

/** Skips the four seconds after which an editable page uses idle time. For `isIdle` and a context with a fake clock. */
export const skipToIdleTime = (page: Page): Promise<void> => page.clock.fastForward(4_000);

/** Runs in the page: records the text of every toast, because on a busy machine a test may check after it has gone. */
function rememberToasts(key: string): void {
  new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes) {
      if (!(target instanceof Element) || !target.matches('[role="status"], [role="alert"]')) continue;
      const words = [...addedNodes].map(
        (node) => (node instanceof Element && node.querySelector('p')?.textContent) || '',
      );
      const texts = JSON.parse(sessionStorage.getItem(key) ?? '[]') as string[];
      sessionStorage.setItem(key, JSON.stringify([...texts, ...words]));
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Runs in the page: forgets a recorded text. Returns all texts that were recorded. */
function takeToast([key, text]: [string, string]): string[] {
  const texts = JSON.parse(sessionStorage.getItem(key) ?? '[]') as string[];
  const index = texts.indexOf(text);
  if (index !== -1) sessionStorage.setItem(key, JSON.stringify(texts.toSpliced(index, 1)));
  return texts;
}

/**
 * Waits until a toast has shown this text in this tab since the last call for the same text; the toast may be gone, and
 * the page reloaded, by then.
 */
export async function expectToast(page: Page, text: string): Promise<void> {
  await expect(async () => {
    expect(await page.evaluate(takeToast, [TOASTS_KEY, text] as [string, string])).toContain(text);
  }).toPass({ timeout: 20_000 });
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  serverSettings: [{}, { option: true, scope: 'worker' }],

  server: [
    async ({ serverSettings }, use) => {
      const server = await startProduct(serverSettings);
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: SERVER_START_TIMEOUT_MS },
  ],

  accounts: [
    async ({ server }, use) => {
      const accounts = await openAccounts(server);
      await use(accounts);
      await accounts.close();
    },
    { scope: 'worker' },
  ],

  baseURL: async ({ server }, use) => {
    await use(server.url);
  },

  expectedErrors: [null, { option: true }],

  isIdle: [false, { option: true }],

  context: async ({ context, isIdle }, use) => {
    if (!isIdle) await context.addInitScript(reportNoIdleTime);
    await use(context);
  },

  watchPage: async ({ expectedErrors }, use) => {
    const problems: string[] = [];
    await use(async (page) => {
      await page.addInitScript(rememberToasts, TOASTS_KEY);
      page.on('pageerror', (error) => problems.push(`threw: ${error.stack ?? error.message}`));
      page.on('console', (message) => {
        if (message.type() !== 'error' && !/content security policy/i.test(message.text())) return;
        const refused =
          REFUSED_REQUEST.test(message.text()) && /\/(auth|rest|functions)\/v1\//.test(message.location().url);
        const expected = expectedErrors?.test(message.text()) ?? false;
        if (!refused && !expected && !REFUSED_RENEWAL.test(message.text()))
          problems.push(`logged: ${message.text()} (${message.location().url})`);
      });
    });
    expect(problems, 'what the pages logged as errors').toEqual([]);
  },

  page: async ({ page, watchPage }, use) => {
    await watchPage(page);
    await use(page);
  },

  signUp: async ({ accounts, openAs }, use) => {
    await use(async (page, { path, isCloser = false, logs = {}, ...person } = {}) => {
      const account = await accounts.create(person);
      for (const [date, html] of Object.entries(logs)) await accounts.writeLog(account, date as Day, html);
      if (isCloser) await accounts.upgrade(account);
      await openAs(page, account, path);
      return account.person;
    });
  },

  openAs: async ({ baseURL }, use) => {
    await use(async (page, { session }, path = '/journal') => {
      const entry = { key: sessionStorageKey(baseURL!), value: JSON.stringify(session) };
      const script = await page.addInitScript(({ key, value }) => localStorage.setItem(key, value), entry);
      await page.goto(path);
      // From here on the storage is the app's: the next load must not bring back a session that it has ended.
      await script.dispose();
      // The early page is outside of the root, and without the journal's shortcuts.
      await expect(page.locator('#root')).toBeVisible();
      if (path === '/journal') await expect(page.locator('.ProseMirror[contenteditable=true]')).toBeVisible();
    });
  },

  // oxlint-disable-next-line no-empty-pattern -- Playwright insists on a destructured first parameter
  expectAccessible: async ({}, use) => {
    await use(async (page, rules = 'all') => {
      // While an animation runs, the contrast is neither that of its start nor that of its end.
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.evaluate(() => {
        for (const animation of document.getAnimations())
          if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
      });
      if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
      // Legacy mode opens no second page for each run. It only leaves out frames, and the pages have none.
      const axe = new AxeBuilder({ page, axeSource: AXE_IS_LOADED }).setLegacyMode();
      // Leaves out the descriptions of everything that passes.
      axe.options({ resultTypes: ['violations'] });
      if (rules === 'all') axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']);
      else axe.withRules(['color-contrast', 'link-in-text-block']);
      const { violations } = await axe.analyze();
      const found = violations.map(
        ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(' | ')})`,
      );
      expect(found, 'what axe found').toEqual([]);
    });
  },

  admin: async ({ server }, use) => {
    await use((...args) => runAdminCommand(args, { ...process.env, ...server.env }));
  },
});

/** Checks a page with every rule in the light theme, and with the rules that depend on colours in the dark theme. */
export async function inBothThemes(
  page: Page,
  expectAccessible: (page: Page, rules: AxeRules) => Promise<void>,
): Promise<void> {
  for (const [theme, rules] of [
    ['light', 'all'],
    ['dark', 'contrast'],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    await expectAccessible(page, rules);
  }
}

/** Checks the colours of a page where the system chooses them, on a light and on a dark ground, and on paper. */
export async function inForcedColorsAndPrint(
  page: Page,
  expectAccessible: (page: Page, rules: AxeRules) => Promise<void>,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme });
    await expectAccessible(page, 'contrast');
  }
  await page.emulateMedia({ forcedColors: 'none', media: 'print', colorScheme: 'dark' });
  await expectAccessible(page, 'contrast');
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
}

/** The page is no wider than its window, down to 320 px (WCAG 1.4.10). */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
  const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await expect.poll(over, 'pixels that stick out at 320 px').toBeLessThanOrEqual(0);
}

/** The sum of all layout shifts since the page was opened. */
export const readShift = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    type Shift = PerformanceEntry & { value: number };
    return new Promise<number>((resolve) => {
      new PerformanceObserver((list) =>
        resolve((list.getEntries() as Shift[]).reduce((sum, { value }) => sum + value, 0)),
      ).observe({ type: 'layout-shift', buffered: true });
      // Without any shift the observer is never called.
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
    });
  });

/** The families of the fonts that the page has loaded. */
export const loadedFonts = (page: Page): Promise<string[]> =>
  page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family));

/** For `page.route`: the server has done what was asked, and the page does not hear of it. */
export async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}

export const chunkErrorToast = (page: Page): Locator =>
  page.getByRole('alert').filter({ hasText: "Couldn't load this. Check your connection and try again." });

/** Waits until the page has requested these built scripts, given the names of their sources. */
export async function expectFetched(page: Page, files: readonly string[]): Promise<void> {
  const fetched = () =>
    page.evaluate(
      async (wanted) => {
        // A fake clock of Playwright has a fake `performance` without entries.
        const entries = await new Promise<PerformanceEntryList>((resolve) => {
          const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
          observer.observe({ type: 'resource', buffered: true });
        });
        const names = entries.map(({ name }) => name);
        return wanted.filter((file) => names.some((name) => name.includes(`/${file}-`) && name.endsWith('.js')));
      },
      [...files],
    );
  await expect.poll(fetched).toEqual(files);
}

/**
 * Answers 404 for these files, as after a release. Once the returned function was called, the next page load gets them.
 */
export async function makeChunksStale(page: Page, files: string): Promise<() => void> {
  let loads = -Infinity;
  page.on('request', (request) => (loads += Number(request.isNavigationRequest())));
  await page.route(files, (route) => (loads < 1 ? route.fulfill({ status: 404 }) : route.fallback()));
  return () => (loads = 0);
}
