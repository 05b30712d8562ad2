/** The browser's own store: killed tabs, a server that does not answer, full storage, and several tabs. */
import type { BrowserContext } from '@playwright/test';
import { dayLabel } from '#domain/day/day.ts';
import { DRAFT_PREFIX, userDatabaseName } from '#client/lib/session/storage-keys.ts';
import {
  crash,
  daysAgo,
  editor,
  expectSaved,
  headersOf,
  items,
  log,
  openDay,
  sessionOf,
  skipToRetry,
  skipToSave,
  status,
  readStoredLog,
  today,
} from '../support/journal.ts';
import { readAllStorage } from '../support/sign-in.ts';
import { expect, skipToIdleTime, test } from '../support/test.ts';

const API = '**/rest/v1/**';

// With this clock, `skipToSave` and `skipToRetry` skip the waits before a save and before a retry.
test.beforeEach(({ context }) => context.clock.install());

const rejectAnswers = (context: BrowserContext): Promise<unknown> => context.route(API, (route) => route.abort());

/** IndexedDB and localStorage reject every draft, as in a browser whose storage is full. */
const fillStorage = (): void => {
  const full = (): never => {
    throw new DOMException('full', 'QuotaExceededError');
  };
  IDBObjectStore.prototype.put = full;
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function store(key, value) {
    if (key.includes('draft')) full();
    setItem.call(this, key, value);
  };
};

test.describe('a browser that may clear the storage', () => {
  test.use({ isIdle: true, expectedErrors: /net::ERR_FAILED/ });

  test('is asked to keep it only once text has to wait there', async ({ page, context, signUp }) => {
    const requestedAt = () => page.evaluate(() => localStorage.getItem('hustle-forge:persistence-requested'));
    // The background tasks open the stream of changes, so its request proves that they are running.
    const streamed = page.waitForRequest('**/functions/v1/changes');
    await signUp(page);
    await page.keyboard.type('saved');
    await skipToSave(page);
    await expectSaved(page);
    await skipToIdleTime(page);
    await streamed;
    expect(await requestedAt()).toBeNull();
    await rejectAnswers(context);
    await page.keyboard.type(' and waiting');
    await skipToSave(page);
    await expect.poll(requestedAt).toBe('browser');
  });

  test('a page that finds text cleared by the browser says of which day', async ({ page, context, signUp }) => {
    await signUp(page);
    const { user } = await sessionOf(page);
    await rejectAnswers(context);
    await page.keyboard.type('waits on this device');
    // The draft is in IndexedDB, its marker in localStorage.
    await expect.poll(() => readAllStorage(page)).toMatch(/draft:[^"]+",""\]/);
    await crash(page);

    const next = await context.newPage();
    await next.goto('/healthz');
    await next.evaluate(
      (name) =>
        new Promise((resolve) => {
          indexedDB.deleteDatabase(name).addEventListener('success', resolve);
        }),
      userDatabaseName(user.id),
    );
    await next.goto('/journal');
    await expect(editor(next)).toBeVisible();
    // The background tasks, among them the check of the drafts, start together with the stream of changes.
    const streamed = next.waitForRequest('**/functions/v1/changes');
    await skipToIdleTime(next);
    await streamed;
    const message = `Unsent text of ${dayLabel(today())} may be lost: this browser has cleared its storage.`;
    // The delay before the drafts of closed tabs are looked at. It may begin after the first step of the clock.
    await expect(async () => {
      await next.clock.fastForward(5_000);
      await expect(next.getByRole('alert')).toContainText(message, { timeout: 2_000 });
    }).toPass();
    await next.getByRole('button', { name: 'Got it' }).click();
    await next.reload();
    await expect(editor(next)).toBeVisible();
    await expect(next.getByRole('alert')).toBeEmpty();
  });
});

test.describe('without an answer of the server', () => {
  test.use({ expectedErrors: /net::ERR_(FAILED|INTERNET_DISCONNECTED)/ });

  test('text typed 150 ms before the tab is killed is there again, and is sent later', async ({
    page,
    context,
    signUp,
  }) => {
    await signUp(page);
    const session = await sessionOf(page);
    await rejectAnswers(context);
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.type('typed just before the crash');
    await page.clock.runFor(150);
    // A busy browser needs longer to write what the page has handed over by now.
    await expect.poll(() => readAllStorage(page)).toContain('typed just before the crash');
    await crash(page);

    const next = await context.newPage();
    await next.goto('/journal');
    // The clock of the context is paused for this page too.
    await next.clock.resume();
    await expect(items(next)).toHaveText(['typed just before the crash']);
    await expect(status(next, /^(Not saved|On this device)/)).toBeVisible();
    await context.unroute(API);
    await skipToRetry(next);
    await expectSaved(next);
    expect(await readStoredLog(context.request, session, today())).toBe(log('typed just before the crash'));
  });

  test('days seen before can be read and written and say how old the copy is, other days cannot', async ({
    page,
    context,
    signUp,
    expectAccessible,
  }) => {
    const logs = { [daysAgo(1)]: log('seen yesterday'), [daysAgo(9)]: log('never seen here') };
    await signUp(page, { path: `/journal?date=${daysAgo(1)}`, logs });
    const session = await sessionOf(page);
    await expect(items(page)).toHaveText(['seen yesterday']);
    await expect.poll(() => readAllStorage(page)).toContain('seen yesterday');
    await rejectAnswers(context);

    await page.goto(`/journal?date=${daysAgo(9)}`);
    await expect(page.getByRole('heading', { name: 'This day could not be loaded.' })).toBeVisible();
    await expect(editor(page)).toHaveCount(0);
    await page.goto(`/journal?date=${daysAgo(1)}`);
    await expect(items(page)).toHaveText(['seen yesterday']);
    await expect(status(page, /^From this device, as of \d\d?:\d\d( [AP]M)?$/)).toBeVisible();
    await expectAccessible(page);

    await editor(page).click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' and continued');
    await skipToSave(page);
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await context.unroute(API);
    await skipToRetry(page);
    await expectSaved(page);
    expect(await readStoredLog(context.request, session, daysAgo(1))).toBe(log('seen yesterday and continued'));
  });

  test('a device that has seen no day shows the unsaved text of one after a restart, and today can be begun', async ({
    page,
    context,
    accounts,
    openAs,
  }) => {
    const account = await accounts.create();
    const { session } = account;
    const draft = { html: log('begun on the train'), base: '', baseRevision: null, at: Date.now(), sent: [] };
    await page.addInitScript(
      ([key, json]) => localStorage.setItem(key!, json!),
      [`${DRAFT_PREFIX}${session.user.id}:${daysAgo(5)}:closed`, JSON.stringify(draft)],
    );
    await rejectAnswers(context);
    await openAs(page, account);
    const unseen = status(page, 'Not loaded – what you write is kept on this device and added to this day');
    await expect(unseen).toBeVisible();
    await page.getByRole('button', { name: `${dayLabel(daysAgo(5))} is not saved yet` }).click();
    await expect(items(page)).toHaveText(['begun on the train']);
    await editor(page).press('ControlOrMeta+End');
    await page.keyboard.type(' and continued');
    await expect(status(page, 'Not saved – retrying')).toBeVisible();

    await page.getByRole('button', { name: 'Go to today' }).click();
    await expect(unseen).toBeVisible();
    await editor(page).click();
    const asked = page.waitForRequest(new RegExp(`/entries\\?.*date=eq\\.${today()}`));
    // Never answered, so that the day is still being read while the text is typed.
    await context.route(API, () => undefined);
    await page.evaluate(() => ['offline', 'online'].map((name) => dispatchEvent(new Event(name))));
    await asked;
    await page.keyboard.type('begun at home');
    await expect(items(page)).toHaveText(['begun at home']);
    await context.unroute(API);
    await skipToRetry(page);
    await expectSaved(page);
    await expect(page.getByRole('button', { name: /is not saved yet$/ })).toHaveCount(0);
    expect(await readStoredLog(context.request, session, today())).toBe(log('begun at home'));
    expect(await readStoredLog(context.request, session, daysAgo(5))).toBe(log('begun on the train and continued'));
  });

  test('a browser that stores nothing says so until the text is saved', async ({ page, context, signUp }) => {
    await signUp(page);
    await page.evaluate(fillStorage);
    await rejectAnswers(context);
    await page.keyboard.type('in memory only');
    await skipToSave(page);
    const warning = status(page, 'This browser cannot keep a copy. Leave this tab open until your text is saved.');
    await expect(warning).toBeVisible();
    await expect(status(page, 'Not saved – retrying')).toBeVisible();
    await expect(warning).toBeVisible();
    await expect(items(page)).toHaveText(['in memory only']);
    await context.unroute(API);
    await skipToRetry(page);
    await expectSaved(page);
    await expect(warning).toBeHidden();
  });
});

test('drafts of forty days wait through a restart and are all sent', async ({ page, context, signUp }) => {
  await signUp(page, { isCloser: true });
  const session = await sessionOf(page);
  const days = Array.from({ length: 40 }, (_, index) => daysAgo(index));
  await page.evaluate(
    async ([name, dates]) => {
      const opened = indexedDB.open(name);
      await new Promise((resolve) => opened.addEventListener('success', resolve));
      const drafts = opened.result.transaction('drafts', 'readwrite').objectStore('drafts');
      for (const date of dates) {
        const html = `<ol><li><p>unsent of ${date}</p></li></ol>`;
        drafts.put({ date, writer: 'closed', draft: { html, base: '', baseRevision: null, at: 1, sent: [] } });
      }
      await new Promise((resolve) => drafts.transaction.addEventListener('complete', resolve));
    },
    [`hustle-forge:${session.user.id}`, days] as const,
  );
  await page.reload();
  await expect(items(page)).toHaveText([`unsent of ${today()}`]);
  const storedDates = async (): Promise<string[]> => {
    const answer = await context.request.get('/rest/v1/entries?select=date,content_text&order=date.desc', {
      headers: headersOf(session),
    });
    const rows = (await answer.json()) as { date: string; content_text: string }[];
    return rows.filter((row) => row.content_text.includes(`unsent of ${row.date}`)).map((row) => row.date);
  };
  await expect.poll(storedDates, { timeout: 60_000 }).toEqual(days);
});

test('a tab shows at once what another tab saved, and does not send the other tab’s unsent text', async ({
  page,
  context,
  signUp,
}) => {
  await signUp(page);
  // Without an answer to its reads, a tab learns of the text by the other tab's message alone.
  await page.route('**/rest/v1/entries*', () => undefined);
  const other = await context.newPage();
  await openDay(other, today());
  await editor(other).click();
  await other.keyboard.type('from the other tab');
  await skipToSave(other);
  await expectSaved(other);
  await expect(items(page)).toHaveText(['from the other tab']);

  const writes: string[] = [];
  context.on('request', (request) => void (request.method() !== 'GET' && writes.push(request.method())));
  await context.route(API, (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()));
  await other.keyboard.type(', unsent');
  await skipToSave(other);
  await expect(status(other, /^Not saved/)).toBeVisible();
  const third = await context.newPage();
  await openDay(third, today());
  await expect(items(third)).toHaveText(['from the other tab']);
  await context.unroute(API);
  await skipToRetry(third);
  await expect(items(third)).toHaveText(['from the other tab, unsent']);
  await expect(items(page)).toHaveText(['from the other tab, unsent']);
  await expectSaved(third);
  expect(await readStoredLog(context.request, await sessionOf(page), today())).toBe(log('from the other tab, unsent'));
});
