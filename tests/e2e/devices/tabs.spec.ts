/** The tabs of one browser: one outbox, and one sender for each day. */
import type { BrowserContext, Page, Request } from '@playwright/test';
import {
  crash,
  daysAgo,
  expectSaved,
  items,
  log,
  openDay,
  sessionOf,
  setHidden,
  status,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { expect, reportNoIdleTime, skipToIdleTime } from '../support/test.ts';
import { addItem, comeBack, test } from './devices.ts';

const isWrite = (request: Request): boolean => request.url().includes('/rest/v1/entries') && request.method() !== 'GET';

/** Counts the writes of all tabs: all that were sent, and those in flight. */
function watchWrites(context: BrowserContext) {
  const writes = { open: 0, sent: 0 };
  context.on('request', (request) => {
    if (!isWrite(request)) return;
    writes.sent += 1;
    writes.open += 1;
  });
  const onEnd = (request: Request): void => void (writes.open -= Number(isWrite(request)));
  context.on('requestfinished', onEnd);
  context.on('requestfailed', onEnd);
  return writes;
}

type Timed = { from: number; to: number };

/** Notes when each write of a page begins and has its answer. Playwright's events of two tabs come in any order. */
const timeWrites = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const timed: Timed[] = [];
    Object.assign(window, { timedWrites: timed });
    const send = window.fetch.bind(window);
    const now = (): number => performance.timeOrigin + performance.now();
    window.fetch = async (input, init) => {
      const from = now();
      const url = input instanceof Request ? input.url : String(input);
      const isRead = !url.includes('/rest/v1/entries') || (init?.method ?? 'GET') === 'GET';
      try {
        return await send(input, init);
      } finally {
        if (!isRead) timed.push({ from, to: now() });
      }
    };
  });

/** Waits for a round trip to the server, after which all requests that the page started earlier are counted. */
const settleRequests = (page: Page): Promise<number> => page.evaluate(async () => (await fetch('/healthz')).status);

test('the tabs never have two writes of one day in flight, not even from a hidden tab', async ({
  account,
  accounts,
  openDevice,
  request,
}) => {
  await accounts.writeLog(account, today(), log('shared'));
  const first = await openDevice({ isLive: false });
  const context = first.context();
  const session = await sessionOf(first);
  const tabs = [first, await context.newPage(), await context.newPage()] as const;
  await Promise.all(tabs.slice(1).map((tab) => openDay(tab, today())));
  const writes = watchWrites(context);
  for (const tab of tabs) await timeWrites(tab);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await context.route('**/rest/v1/entries*', async (route) => {
    if (isWrite(route.request())) await released;
    await route.fallback();
  });
  const [, second, hidden] = tabs;
  await addItem(first, 'in the first tab');
  await comeBack(first);
  await expect.poll(() => writes.open).toBe(1);
  await addItem(second, 'in the second tab');
  await comeBack(second);
  await addItem(hidden, 'in the hidden tab');
  await setHidden(hidden, true);
  for (const tab of [second, hidden]) {
    await expect(status(tab, 'Saving...')).toBeVisible();
    await settleRequests(tab);
  }
  expect(writes).toEqual({ open: 1, sent: 1 });
  release();
  const readStoredItems = async (): Promise<string[]> =>
    [...((await readStoredLog(request, session, today())) ?? '').matchAll(/<p>(.*?)<\/p>/g)].map(([, text]) => text!);
  await expect
    .poll(async () => (await readStoredItems()).toSorted())
    .toEqual(['in the first tab', 'in the hidden tab', 'in the second tab', 'shared']);
  for (const tab of tabs) await expectSaved(tab);
  for (const tab of [first, second]) await expect(items(tab)).toHaveText(await readStoredItems());
  const timed = (
    await Promise.all(tabs.map((tab) => tab.evaluate(() => Reflect.get(window, 'timedWrites') as Timed[])))
  )
    .flat()
    .toSorted((a, b) => a.from - b.from);
  expect(timed).toHaveLength(writes.sent);
  expect(timed.filter(({ from }, index) => index > 0 && from < timed[index - 1]!.to)).toEqual([]);
});

test.describe('the drafts of a tab that was killed', () => {
  test.use({ expectedErrors: /net::ERR_/ });

  test('are sent by another tab that stays in the foreground, also on the day that it is writing', async ({
    account,
    accounts,
    openDevice,
    request,
  }) => {
    await accounts.writeLog(account, today(), log('shared'));
    let watching: Promise<Request> | undefined;
    const page = await openDevice({
      async prepare(opened) {
        // The code that notices closed tabs is loaded when the stream of changes starts.
        watching = opened.waitForRequest(/\/functions\/v1\/changes$/);
        await opened.clock.install();
      },
    });
    const context = page.context();
    const session = await sessionOf(page);
    await expect(items(page)).toHaveText(['shared']);
    await skipToIdleTime(page);
    await watching;

    const killed = await context.newPage();
    await killed.addInitScript(reportNoIdleTime);
    await killed.route('**/rest/v1/entries*', (route) => (isWrite(route.request()) ? route.abort() : route.fallback()));
    await openDay(killed, daysAgo(1));
    await addItem(killed, 'unsent of yesterday');
    await comeBack(killed);
    await expect(status(killed, 'Not saved – retrying')).toBeVisible();
    await killed.getByRole('button', { name: 'Next day' }).click();
    await expect(items(killed)).toHaveText(['shared']);
    await addItem(killed, 'unsent of today');
    await comeBack(killed);
    await expect(status(killed, 'Not saved – retrying')).toBeVisible();

    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/rest/v1/entries*', async (route) => {
      if (route.request().method() === 'PATCH') await released;
      await route.fallback();
    });
    await addItem(page, 'being written');
    await page.keyboard.press('ArrowLeft');
    await comeBack(page);
    await expect(status(page, 'Saving...')).toBeVisible();
    await page.evaluate(() => {
      const note = (): void => void (document.documentElement.dataset['cameBack'] = '');
      for (const type of ['focus', 'online', 'offline', 'pageshow']) addEventListener(type, note);
      document.addEventListener('visibilitychange', note);
    });
    await crash(killed);
    await page.clock.fastForward(10_000);
    await expect.poll(() => readStoredLog(request, session, daysAgo(1))).toBe(log('unsent of yesterday'));
    await expect.poll(() => readStoredLog(request, session, today())).toBe(log('shared'));
    release();
    await expect(items(page)).toContainText(['shared', /./, /./]);
    await expect
      .poll(async () => (await readStoredLog(request, session, today()))?.split('</li>').toSorted().join(''))
      .toBe(log('shared', 'being written', 'unsent of today').split('</li>').toSorted().join(''));
    // The merge has not moved the caret from its place in front of the last letter of the page's own item.
    await page.keyboard.type('X');
    await expect(items(page).filter({ hasText: 'being writteXn' })).toBeVisible();
    await expect(page.locator('html[data-came-back]')).toHaveCount(0);
  });
});
