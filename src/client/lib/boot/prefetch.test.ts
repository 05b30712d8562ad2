/** Tests that a prefetched response goes to the same request of the same user, once, and only while it is fresh. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fetchPrefetched, prefetch } from './prefetch.ts';

const DAY_URL = 'http://localhost/rest/v1/entries?date=eq.2026-11-21';
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

let requests: string[];
beforeEach(() => {
  requests = [];
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (_url: string, init?: RequestInit) => {
    expect(init?.cache, 'a response that a network has made up must not be stored').toBe('no-store');
    requests.push(`${init?.method ?? 'GET'} as ${new Headers(init?.headers).get('authorization') ?? 'guest'}`);
    return Promise.resolve(new Response(`response ${requests.length}`));
  });
  void prefetch([DAY_URL], 'mine', 'key');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  globalThis.hustleForgePrefetched = undefined;
});

const readDay = async (init?: RequestInit): Promise<string> => (await fetchPrefetched(DAY_URL, init)).text();

test('uses a prefetched response once for the same request', async () => {
  expect(await readDay(as('mine'))).toBe('response 1');
  expect(await readDay(as('mine'))).toBe('response 2');
});

test('sends a new request for another token or none', async () => {
  expect(await readDay(as('renewed'))).toBe('response 2');
  expect(await readDay()).toBe('response 3');
  expect(requests).toEqual(['GET as Bearer mine', 'GET as Bearer renewed', 'GET as guest']);
});

test('discards prefetched responses after a write', async () => {
  await fetchPrefetched('http://localhost/rest/v1/entries', { method: 'POST', ...as('mine') });
  expect(await readDay(as('mine'))).toBe('response 3');
});

test('discards a prefetched response after ten seconds', async () => {
  vi.advanceTimersByTime(10_000);
  expect(await readDay(as('mine'))).toBe('response 2');
});
