/** Scenes without the server, with a full storage, of a new version, and of text that another app shared. */
import type { Page } from '@playwright/test';
import { addDays, dayOf } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { waitForEditor, type Scene } from './scene.ts';

const APIS = /\/(rest|functions)\/v1\//;
const SHARED_TEXT_URL = '/share?title=Release%20notes&text=Read%20before%20Monday&url=https://example.com/notes';
const DAY_NEVER_SEEN = addDays(dayOf(new Date()), -20);

const waitForStatus = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

/** Makes the APIs unreachable. A page loaded afterwards looks like one that the service worker has opened offline. */
const stopAnswers = (page: Page): Promise<unknown> => page.route(APIS, (route) => route.abort());

async function reloadWithoutAnswers(page: Page): Promise<void> {
  await waitForEditor(page);
  await stopAnswers(page);
  await page.reload();
  await waitForEditor(page);
}

/** Leaves unsaved text in the log, with the APIs unreachable. */
async function typeWithoutAnswers(page: Page): Promise<void> {
  await waitForEditor(page);
  await stopAnswers(page);
  await type(page, ', finished on the train');
}

/** Waits until the idle page has stored the profile: without the server, the next page reads the plan from it. */
async function waitForStoredPlan(page: Page): Promise<void> {
  await page.waitForFunction(
    () => Object.keys(localStorage).some((key) => key.startsWith('hustle-forge:profile:')),
    undefined,
    { timeout: 20_000 },
  );
}

async function askToSignOut(page: Page): Promise<void> {
  await typeWithoutAnswers(page);
  await waitForStatus(page, 'Not saved – retrying');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
}

async function type(page: Page, text: string): Promise<void> {
  await page.locator('.ProseMirror').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(text);
}

/** Acknowledges every write without storing it, so that the scene leaves no log behind. */
const acknowledgeWrites = (page: Page): Promise<unknown> =>
  page.route('**/rest/v1/entries*', (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({
          json: [
            {
              id: '00000000-0000-4000-8000-000000000002',
              revision: 1,
              updated_at: new Date().toISOString(),
              content: '',
            },
          ],
        }),
  );

/** Makes IndexedDB and localStorage refuse every draft. */
const fillStorage = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const refuse = (): never => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    IDBObjectStore.prototype.put = refuse;
    const { setItem } = Storage.prototype;
    Storage.prototype.setItem = function store(key, value) {
      if (key.includes('draft')) refuse();
      setItem.call(this, key, value);
    };
  });

/** Simulates that a service worker of another version, which has none of this page's files, takes over. */
const replaceWorker = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const other = { postMessage: (_message: unknown, ports?: MessagePort[]) => ports?.[0]?.postMessage(false) };
    Object.defineProperty(navigator.serviceWorker, 'controller', { value: other });
    navigator.serviceWorker.dispatchEvent(new Event('controllerchange'));
  });

export const OFFLINE_SCENES: readonly Scene[] = [
  {
    name: 'offline-typed',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.context().setOffline(true);
      await type(page, ', finished on the train');
      await waitForStatus(page, 'On this device only – sending when online');
    },
  },
  {
    name: 'offline-reload',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithoutAnswers(page);
      await waitForStatus(page, /^From this device/);
    },
  },
  {
    name: 'offline-reload-closer',
    as: 'premium',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForStoredPlan(page);
      await reloadWithoutAnswers(page);
      await waitForStatus(page, /^From this device/);
    },
  },
  {
    name: 'offline-retrying',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await typeWithoutAnswers(page);
      await page.getByRole('button', { name: 'Previous day' }).click();
      await waitForStatus(page, 'is not saved yet');
      await page.getByRole('button', { name: 'Next day' }).click();
      await waitForStatus(page, 'Not saved – retrying');
    },
  },
  {
    name: 'offline-begun',
    as: 'newcomer',
    path: ROUTES.settings.path,
    prepare: async (page) => {
      await stopAnswers(page);
      await page.goto(ROUTES.journal.path);
      await waitForStatus(page, /^Not loaded/);
    },
  },
  {
    name: 'offline-not-loaded',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await stopAnswers(page);
      await page.goto(`${ROUTES.journal.path}?date=${DAY_NEVER_SEEN}`);
      await page.getByRole('heading', { name: 'This day could not be loaded.' }).waitFor();
    },
  },
  {
    name: 'offline-calendar',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await reloadWithoutAnswers(page);
      await waitForStatus(page, /^From this device/);
      await page.keyboard.press('Alt+c');
      await page
        .getByRole('dialog')
        .getByText(/^From this device/)
        .waitFor();
    },
  },
  {
    name: 'offline-find-nothing',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('combobox').waitFor();
      await page.context().setOffline(true);
      await page.getByRole('combobox').fill('xylophone');
      await page.getByText('Searched on this device only').waitFor();
    },
  },
  {
    name: 'offline-review',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Generate 7-Day Analysis' }).click();
      await page.getByRole('region', { name: 'Analysis', exact: true }).waitFor({ timeout: 20_000 });
      await waitForStoredPlan(page);
      await stopAnswers(page);
      await page.reload();
      await page.getByRole('region', { name: 'Last review' }).waitFor();
    },
  },
  {
    name: 'offline-review-none',
    as: 'veteran',
    path: ROUTES.reviews.path,
    prepare: async (page) => {
      await waitForStoredPlan(page);
      await stopAnswers(page);
      await page.reload();
      await page.getByRole('button', { name: 'Try Again' }).waitFor();
    },
  },
  {
    name: 'storage-full',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await fillStorage(page);
      await typeWithoutAnswers(page);
      await waitForStatus(page, 'Not saved – retrying');
      await waitForStatus(page, 'This browser cannot keep a copy.');
    },
  },
  {
    name: 'sign-out-unsaved',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await askToSignOut(page);
      await page.getByRole('dialog', { name: 'You have unsaved text' }).waitFor();
    },
  },
  {
    name: 'sign-out-not-sent',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await askToSignOut(page);
      await page.getByRole('button', { name: 'Save and sign out' }).click();
      await page.getByText("The text couldn't be saved.").waitFor();
    },
  },
  {
    name: 'update-offer',
    as: 'free',
    path: ROUTES.journal.path,
    prepare: async (page) => {
      await waitForEditor(page);
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null, undefined, { timeout: 20_000 });
      await replaceWorker(page);
      await waitForStatus(page, 'A new version is ready.');
    },
  },
  {
    name: 'shared-text',
    as: 'newcomer',
    path: ROUTES.settings.path,
    prepare: async (page) => {
      await acknowledgeWrites(page);
      await page.addInitScript(() => {
        const match = matchMedia.bind(globalThis);
        globalThis.matchMedia = (query) => match(query.replace('(display-mode: standalone)', 'all'));
      });
      await page.goto(SHARED_TEXT_URL);
      await waitForStatus(page, 'What you shared is in your log.');
    },
  },
  {
    name: 'shared-text-question',
    as: 'newcomer',
    path: ROUTES.settings.path,
    prepare: async (page) => {
      await page.goto(SHARED_TEXT_URL);
      await page.getByRole('button', { name: 'Add to today' }).waitFor();
    },
  },
];
