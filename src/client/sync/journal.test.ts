// @vitest-environment happy-dom
import 'fake-indexeddb/auto';
import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createDataClient } from '#client/lib/api/data-client.ts';
import { DRAFT_PREFIX, keysUnder, userDatabaseName } from '#client/lib/session/storage-keys.ts';
import { createJournal, type Journal } from './journal.ts';
import { loadMerge } from './merge-loader.ts';

const DATE = day('2026-11-23');
const TOKEN = `x.${btoa(JSON.stringify({ sub: 'ada' })).replaceAll('=', '')}.x`;
const MINUTE_MS = 60_000;
/** A loaded machine needs seconds for what usually takes milliseconds. */
const WAIT = { timeout: 15_000 };

let sent: number[];
beforeEach(async () => {
  await loadMerge();
  vi.useFakeTimers({ now: Date.parse('2026-11-23T12:00:00Z'), toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  sent = [];
  vi.stubGlobal('fetch', () => {
    sent.push(Date.now());
    return Promise.reject(new TypeError('Failed to fetch'));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  localStorage.clear();
});

function openJournal(): Journal {
  const data = createDataClient({
    apiUrl: 'http://localhost',
    withSession: (base) => (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${TOKEN}`);
      return base(input, { ...init, headers });
    },
  });
  const none = (): void => {};
  return createJournal({ ...{ userId: 'ada', data, queries: new QueryClient(), onLocked: none, onRemoved: none } });
}

/** The wait between the last two tries of a save in four minutes without a server. */
async function lastWait(visibility: DocumentVisibilityState): Promise<number> {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility);
  const { savers } = openJournal();
  savers.open(DATE, null, Date.now()).rewrite(() => '<p>a</p>', 0);
  await vi.advanceTimersByTimeAsync(4 * MINUTE_MS);
  savers.close();
  const [before = 0, last = 0] = sent.slice(-2);
  return last - before;
}

test('a hidden page tries a save again less often than one on screen', async () => {
  const onScreen = await lastWait('visible');
  expect(onScreen).toBeGreaterThanOrEqual(5_000);
  expect(onScreen).toBeLessThan(8_000);
  sent = [];
  const hidden = await lastWait('hidden');
  expect(hidden).toBeGreaterThanOrEqual(30_000);
  expect(hidden).toBeLessThan(46_000);
});

test('unsaved text is stored again when the database is deleted while the page is open', async () => {
  const { savers } = openJournal();
  savers.open(DATE, null, Date.now()).rewrite(() => '<p>a</p>', MINUTE_MS);
  await vi.advanceTimersByTimeAsync(100);
  const draft = (): string | null => localStorage.getItem(keysUnder(localStorage, DRAFT_PREFIX)[0]!);
  await vi.waitFor(() => expect(draft()).toBe(''), WAIT);
  indexedDB.deleteDatabase(userDatabaseName('ada'));
  await vi.waitFor(() => expect(draft()).toContain('<p>a</p>'), WAIT);
  savers.close();
  expect(sent).toEqual([]);
});
