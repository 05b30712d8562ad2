/** The service worker: opening without a server, new versions, removal, and text that other apps share. */
import { isolate } from '#domain/isolate.ts';
import type { Page } from '@playwright/test';
import {
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  readStoredLog,
  storeLog,
  today,
} from './support/journal.ts';
import { openGateway, type Gateway } from './support/gateway.ts';
import { readAllStorage } from './support/sign-in.ts';
import { inBothThemes, expect, reportNoIdleTime, skipToIdleTime, test as base } from './support/test.ts';

const test = base.extend<{ gateway: Gateway }>({
  serviceWorkers: 'allow',
  isIdle: true,
  gateway: openGateway,
  baseURL: async ({ gateway }, use) => use(gateway.url),
  expectedErrors: /net::ERR_|status of 404|MIME type of "text\/html"/,
});

test.beforeEach(({ context }) => context.clock.install());

const write = async (page: Page, text: string): Promise<void> => {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(text);
};

/** Waits until the worker controls the page and has stored its files. */
async function expectControlled(page: Page): Promise<void> {
  await skipToIdleTime(page);
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

/** Installs the worker from a page that runs no app, as an earlier visit of this browser would have. */
async function installWorker(page: Page): Promise<void> {
  await page.goto('/privacy-policy');
  await page.evaluate(async () => void (await navigator.serviceWorker.register('/service-worker.js')));
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

const hasWorker = (page: Page): Promise<boolean> =>
  page.evaluate(async () => (await navigator.serviceWorker.getRegistration()) !== undefined);

/** The paths of everything in this browser's caches. */
const cachedPaths = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const found: string[] = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) found.push(url.slice(location.origin.length));
    return found;
  });

/** Waits until a worker of another version controls the page, after something that makes the browser look for one. */
async function expectNewController(page: Page, look: () => Promise<void>): Promise<void> {
  const first = await page.evaluateHandle(() => navigator.serviceWorker.controller);
  await look();
  await page.waitForFunction((old) => navigator.serviceWorker.controller !== old, first);
}

const newVersion = (page: Page) => page.getByRole('status').filter({ hasText: 'A new version is ready.' });
const checkForUpdate = (page: Page) =>
  page.evaluate(async () => void (await (await navigator.serviceWorker.getRegistration())?.update()));

test('the service worker starts after the log is editable, stores public files only, and is removed when switched off', async ({
  page,
  signUp,
  gateway,
}) => {
  await signUp(page);
  expect(await hasWorker(page)).toBe(false);
  await write(page, 'nobody else reads this');
  await expectSaved(page);
  await expectControlled(page);
  await page.reload();
  await expect(items(page)).toHaveText(['nobody else reads this']);
  // The worker names the version of its shell, so the server does not preload what the worker has.
  const preloads = await page.evaluate(async () => {
    const { headerValue } = await (await navigator.serviceWorker.ready).navigationPreload.getState();
    const answer = await fetch('/journal', { headers: { 'Service-Worker-Navigation-Preload': headerValue! } });
    return answer.headers.get('link');
  });
  expect(preloads).toBeNull();
  const offered = await page.evaluate(() => sessionStorage.getItem('e2e-toasts'));
  expect(offered ?? '').not.toContain('new version');
  const isPublic = (path: string): boolean => path === '/' || path === '/journal' || path.startsWith('/assets/');
  expect((await cachedPaths(page)).filter((path) => !isPublic(path))).toEqual([]);

  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('button', { name: 'Logout' }).click();
  await expect(page).toHaveURL('/');
  const paths = await cachedPaths(page);
  expect(paths).toContain('/journal');
  expect(paths.filter((path) => !isPublic(path))).toEqual([]);
  const texts = await page.evaluate(async () => (await caches.match('/journal'))!.text());
  expect(texts).not.toContain('nobody else');

  await test.step('the server switches it off, and the page that is open does nothing', async () => {
    gateway.worker = 'off';
    await expect(async () => {
      await checkForUpdate(page);
      expect(await hasWorker(page)).toBe(false);
    }).toPass();
    expect(await cachedPaths(page)).toEqual([]);
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
  });
});

test('the journal opens without a server on today and on days seen before, and sends what was typed once online', async ({
  page,
  request,
  accounts,
  openAs,
  gateway,
}) => {
  const account = await accounts.create();
  const { session } = account;
  const menu = page.getByRole('button', { name: 'Open menu' });
  await storeLog(request, session, daysAgo(1), log('seen yesterday'));
  await openAs(page, account, '/journal?date=yesterday');
  await expect(page).toHaveURL(`/journal?date=${daysAgo(1)}`);
  await expect(items(page)).toHaveText(['seen yesterday']);
  await expect.poll(() => readAllStorage(page)).toContain('seen yesterday');
  await page.getByRole('button', { name: 'Next day' }).click();
  await expect(editor(page)).toBeVisible();
  await expectControlled(page);

  await test.step('the server does not answer', async () => {
    gateway.network = 'silent';
    await page.goto(`/journal?date=${daysAgo(3)}`, { waitUntil: 'commit' });
    await expect(menu).toBeVisible();
  });

  await test.step('the server cannot be reached', async () => {
    gateway.network = 'down';
    await page.goto('/', { waitUntil: 'commit' });
    await expect(page).toHaveURL('/journal');
    await write(page, 'typed offline');
    await expect(items(page)).toHaveText(['typed offline']);
    await page.getByRole('button', { name: 'Previous day' }).click();
    await expect(items(page)).toHaveText(['seen yesterday']);
    await page.reload();
    await expect(items(page)).toHaveText(['seen yesterday']);
    await page.goto('/journal');
    await expect(items(page)).toHaveText(['typed offline']);
  });

  gateway.network = 'up';
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await expectSaved(page);
  expect(await readStoredLog(request, session, today())).toBe(log('typed offline'));
});

test('a new version is offered in words, the old one stays whole until then, and the reload keeps unsaved text', async ({
  page,
  context,
  signUp,
  gateway,
  expectAccessible,
}) => {
  await signUp(page);
  await expectControlled(page);
  // A second tab of the first version: the first version's files stay stored while it is open. It gets no idle time:
  // its requests in idle time would restart the first worker, which Chromium keeps for five minutes under Playwright.
  const other = await context.newPage();
  await other.addInitScript(reportNoIdleTime);
  await other.goto('/journal');
  await expect(editor(other)).toBeVisible();

  // Ends a check that is under way and has already read the file of the first version: the next would only join it.
  await checkForUpdate(page);
  gateway.release = 2;
  await page.route('**/rest/v1/entries*', (route) =>
    route.request().method() === 'GET' ? route.fallback() : route.abort(),
  );
  await write(page, 'not saved yet');
  await test.step('requests that the worker does not answer do not keep the first version', async () => {
    const requests = await page.evaluateHandle(() => {
      const loop = { hasEnded: false };
      void (async () => {
        while (!loop.hasEnded) await fetch('/auth/v1/health');
      })();
      return loop;
    });
    await expectNewController(page, () => checkForUpdate(page));
    await requests.evaluate((loop) => void (loop.hasEnded = true));
  });
  await expect(newVersion(page)).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expect(items(page)).toHaveText(['not saved yet']);
  await expect(page.locator('html')).not.toHaveAttribute('data-release');

  await newVersion(page).getByRole('button', { name: 'Reload' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-release', '2');
  await expect(items(page)).toHaveText(['not saved yet']);
  await page.unroute('**/rest/v1/entries*');
  await write(page, '!');
  await expectSaved(page);
  await expect(newVersion(page)).toHaveCount(0);

  const oldEntry = await other.evaluate(() => [...document.scripts].find(({ src }) => /\/app-/.test(src))!.src);
  const isStored = () => page.evaluate(async (url) => (await caches.match(url)) !== undefined, oldEntry);
  expect(await isStored()).toBe(true);
  expect(await other.evaluate(async (url) => (await fetch(url)).status, oldEntry)).toBe(200);
  await other.close();

  gateway.network = 'down';
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-release', '2');
  await expect(editor(page)).toBeVisible();
  await skipToIdleTime(page);
  await expect.poll(isStored).toBe(false);
});

test('the service worker requests an address that works once only once', async ({ page, gateway }) => {
  await installWorker(page);
  for (const path of [
    '/auth/v1/callback?state=used',
    '/auth/v1/verify?token=used&type=magiclink',
    '/login?code=used',
  ]) {
    await page.goto(path);
    expect(gateway.navigations.filter((requested) => requested === path)).toEqual([path]);
  }
});

test('the service worker keeps nothing of a read-only link, and shows none without the server', async ({
  page,
  context,
  accounts,
  gateway,
}) => {
  const account = await accounts.create();
  await accounts.upgrade(account);
  const headers = headersOf(account.session);
  const { user } = account.session;
  const content = JSON.stringify({
    author: '',
    lines: [{ kind: 'win', id: '1', date: today(), text: 'Closed the audit', source: '' }],
  });
  const stored = await page.request.post('/rest/v1/documents?select=id', {
    headers,
    data: { user_id: user.id, title: 'My year', first_day: today(), last_day: today(), content },
  });
  const [{ id: documentId }] = (await stored.json()) as [{ id: string }];
  const made = await page.request.post('/functions/v1/create-link', { headers, data: { documentId, days: 7 } });
  const { url } = (await made.json()) as { url: string };
  const link = new URL(url).pathname;

  await installWorker(page);
  // Not the fixture's page, whose own scripts the link's policy refuses.
  const reader = await context.newPage();
  await reader.goto(link);
  await expect(reader.getByText('Closed the audit')).toBeVisible();
  expect(await reader.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  expect(gateway.navigations.filter((requested) => requested === link)).toEqual([link]);

  gateway.network = 'down';
  await expect(reader.reload()).rejects.toThrow(/net::ERR_/);
  expect((await cachedPaths(page)).filter((path) => path.startsWith('/s/'))).toEqual([]);
});

test('the service worker removes itself and its files once its file is gone', async ({ page, signUp, gateway }) => {
  await installWorker(page);
  gateway.worker = 404;
  await signUp(page);
  await skipToIdleTime(page);
  await expect.poll(() => hasWorker(page)).toBe(false);
  expect(await cachedPaths(page)).toEqual([]);
});

test('the service worker removes itself when a stored file is broken, and the page starts from the network', async ({
  page,
  signUp,
}) => {
  await installWorker(page);
  await page.evaluate(async () => {
    const cache = await caches.open('hustle-forge:assets');
    const entry = (await cache.keys()).find(({ url }) => /\/app-[^/]*\.js$/.test(url))!;
    const headers = { 'content-type': 'text/html' };
    await cache.put(entry, new Response('<h1>Sign in to the hotel</h1>', { headers }));
  });
  await signUp(page);
  expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
});

/** Makes each page believe that it is a window of the installed app, where the system opens shared text. */
const installApp = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const match = matchMedia.bind(globalThis);
    globalThis.matchMedia = (query) => match(query.replace('(display-mode: standalone)', 'all'));
  });

test.describe('text that another app shares', () => {
  test('becomes one item of today, with and without the worker, and neither a reload nor going back adds another', async ({
    page,
    request,
    accounts,
    openAs,
    gateway,
  }) => {
    const account = await accounts.create();
    await installApp(page);
    await openAs(page, account, '/share?title=News&text=Called%20%3CMiller%3E&url=https://a.example/');
    await expect(items(page)).toHaveText(['NewsCalled <Miller>https://a.example/']);
    await expect(page).toHaveURL(`/journal?date=${today()}`);
    await expectSaved(page);

    await expectControlled(page);
    await page.goto('/share?text=Second');
    await expect(items(page)).toHaveText(['NewsCalled <Miller>https://a.example/', 'Second']);
    await expectSaved(page);
    expect(await readStoredLog(request, account.session, today())).toBe(
      log('News<br>Called &lt;Miller&gt;<br>https://a.example/', 'Second'),
    );
    await page.goBack();
    await expect(items(page)).toHaveCount(2);

    gateway.network = 'down';
    await page.goto('/share?text=Third');
    await expect(page.getByRole('button', { name: 'Open menu' })).toBeVisible();
    gateway.network = 'up';
    await page.reload();
    await expect(items(page).last()).toHaveText('Third');
    await expect(items(page)).toHaveCount(3);
    await expectSaved(page);
  });

  test('waits for the sign-in of a signed-out user', async ({ page, accounts }) => {
    const { person } = await accounts.create();
    await installApp(page);
    await page.goto('/share?text=Called%20Miller');
    await expect(page).toHaveURL('/login');
    await page.reload();
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(items(page)).toHaveText(['Called Miller']);
    await expectSaved(page);
  });

  test('is asked about if a site opened it in a tab', async ({ page, request, accounts, openAs }) => {
    const account = await accounts.create();
    await storeLog(request, account.session, today(), log('mine'));
    const question = page.getByText(
      `A site or an app sent text to your log of today: “${isolate('Buy <b>pills</b>')}”`,
    );
    const shared = '/share?text=Buy%20%3Cb%3Epills%3C/b%3E';
    const expectQuestion = async (): Promise<void> => {
      await expect(question).toBeVisible();
      await expect(page).toHaveURL(`/journal?date=${today()}`);
      await expect(items(page)).toHaveText(['mine']);
    };
    await openAs(page, account, shared);
    await expectQuestion();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect(question).toBeHidden();

    await page.goto(shared);
    await expectQuestion();
    expect(await readStoredLog(request, account.session, today())).toBe(log('mine'));
    await page.getByRole('button', { name: 'Add to today' }).click();
    await expect(items(page)).toHaveText(['mine', 'Buy <b>pills</b>']);
    await expectSaved(page);
    await page.reload();
    await expect(items(page)).toHaveText(['mine', 'Buy <b>pills</b>']);
    await expect(question).toBeHidden();
  });
});
