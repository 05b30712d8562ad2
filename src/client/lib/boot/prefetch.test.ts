/** What was asked for early is given to the same request of the same user, once, and only while it is still true. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askEarly, fetchOnce } from './prefetch.ts';

const DAY = 'http://localhost/rest/v1/entries?date=eq.2026-11-21';
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

let asked: string[];
beforeEach(() => {
  asked = [];
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (_address: string, init?: RequestInit) => {
    asked.push(`${init?.method ?? 'GET'} as ${new Headers(init?.headers).get('authorization') ?? 'nobody'}`);
    return Promise.resolve(new Response(`answer ${asked.length}`));
  });
  askEarly([DAY], 'mine', 'key');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  globalThis.hustleForgeEarly = undefined;
});

const answer = async (init?: RequestInit): Promise<string> => (await fetchOnce(DAY, init)).text();

test('the same request takes the answer that is on its way, once', async () => {
  expect(await answer(as('mine'))).toBe('answer 1');
  expect(await answer(as('mine'))).toBe('answer 2');
});

test('a request with another token, or with none, asks for itself', async () => {
  expect(await answer(as('renewed'))).toBe('answer 2');
  expect(await answer()).toBe('answer 3');
  expect(asked).toEqual(['GET as Bearer mine', 'GET as Bearer renewed', 'GET as nobody']);
});

test('after a write nothing that was read before it counts', async () => {
  await fetchOnce('http://localhost/rest/v1/entries', { method: 'POST', ...as('mine') });
  expect(await answer(as('mine'))).toBe('answer 3');
});

test('an answer that nobody took in time is forgotten', async () => {
  vi.advanceTimersByTime(10_000);
  expect(await answer(as('mine'))).toBe('answer 2');
});
