/** A device whose service worker updates from one version of the program to the next, while the other device writes. */
import type { Page } from '@playwright/test';
import { editor, items, log, status, today } from '../support/journal.ts';
import { openGateway, type Gateway } from '../support/gateway.ts';
import { expect, reportNoIdleTime } from '../support/test.ts';
import { addItem, comeBack, expectAgreement, saveItem, test as base } from './devices.ts';

const test = base.extend<{ gateway: Gateway }>({
  gateway: openGateway,
  baseURL: async ({ gateway }, use) => use(gateway.url),
  expectedErrors: /net::ERR_|status of 404/,
});

// A worker of another version stores every script anew, which takes long on a busy machine.
test.describe.configure({ timeout: 300_000 });

const TODAY = today();
const releaseOf = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.documentElement.dataset['release']);

/** Returns whether a new worker has taken over the page since this call. */
const watchWorker = (page: Page) =>
  page.evaluateHandle(() => {
    const { controller } = navigator.serviceWorker;
    return () => navigator.serviceWorker.controller !== controller;
  });

/** Retried, because `update` may join a running check that has already read the old file. */
const untilReplaced = (page: Page, isReplaced: Awaited<ReturnType<typeof watchWorker>>): Promise<void> =>
  expect(async () => {
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())!.update());
    await page.waitForFunction((isDone) => isDone(), isReplaced, { timeout: 2_000 });
  }).toPass();

test('a request for a page that the server never answers delays an update only for seconds', async ({
  gateway,
  openDevice,
}) => {
  const desk = await openDevice({ serviceWorkers: 'allow' });
  await desk.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  const isWorkerReplaced = await watchWorker(desk);
  gateway.network = 'noPages';
  const fromCache = await desk.context().newPage();
  // Its requests in idle time would restart the first worker, which Chromium keeps for five minutes under Playwright.
  await fromCache.addInitScript(reportNoIdleTime);
  await fromCache.goto('/journal');
  await expect(editor(fromCache)).toBeVisible();
  gateway.network = 'up';
  gateway.release = 2;
  await untilReplaced(desk, isWorkerReplaced);
});

test('an update of the service worker keeps unsent text, and pages of both versions merge their days', async ({
  account,
  accounts,
  gateway,
  openDevice,
  request,
}) => {
  await accounts.writeLog(account, TODAY, log('shared'));
  const desk = await openDevice({ serviceWorkers: 'allow' });
  await desk.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
  const isWorkerReplaced = await watchWorker(desk);
  const oldTab = await desk.context().newPage();
  await oldTab.addInitScript(reportNoIdleTime);
  await oldTab.goto('/journal');
  await expect(items(oldTab)).toHaveText(['shared']);

  // The server now has the files of the second version only.
  gateway.release = 2;
  for (const page of [desk, oldTab]) {
    await page.route('**/rest/v1/entries*', (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.abort(),
    );
  }
  await addItem(desk, 'unsent at the update');
  const other = await openDevice({ isLive: false });
  expect(await releaseOf(other)).toBe('2');
  await saveItem(other, 'from the second version');

  await untilReplaced(desk, isWorkerReplaced);
  const offer = desk.getByRole('status').filter({ hasText: 'A new version is ready.' });
  // The offer may have come and gone, and is shown again when the user comes back.
  await expect(async () => {
    await comeBack(desk);
    await expect(offer).toBeVisible({ timeout: 2_000 });
  }).toPass();
  expect(await releaseOf(desk)).toBeUndefined();
  await offer.getByRole('button', { name: 'Reload' }).click();
  await expect(editor(desk)).toBeVisible();
  expect(await releaseOf(desk)).toBe('2');
  await expect(items(desk).getByText('unsent at the update')).toBeVisible();

  await addItem(oldTab, 'from a tab of the first version');
  await expect(status(oldTab, /^Not saved/)).toBeVisible();
  expect(await releaseOf(oldTab)).toBeUndefined();
  for (const page of [desk, oldTab]) await page.unroute('**/rest/v1/entries*');
  const typed = ['shared', 'unsent at the update', 'from the second version', 'from a tab of the first version'];
  await expectAgreement(request, account, { [TODAY]: typed }, [
    [desk, TODAY],
    [oldTab, TODAY],
    [other, TODAY],
  ]);
});
