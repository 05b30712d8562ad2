/** Tests the preloading of chunks while the page is idle. */
import { beforeEach, expect, test, vi } from 'vitest';

let page: EventTarget;

beforeEach(() => {
  vi.useFakeTimers();
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  vi.stubGlobal('window', {});
});

test('a preload that failed without a connection is repeated when the connection returns', async () => {
  const { preloadChunksWhenIdle } = await import('./lazy-chunk.ts');
  const load = vi.fn().mockRejectedValueOnce(new Error('offline')).mockResolvedValue(undefined);
  const stop = preloadChunksWhenIdle([load]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(load).toHaveBeenCalledTimes(1);
  page.dispatchEvent(new Event('online'));
  expect(load).toHaveBeenCalledTimes(2);
  stop();
  page.dispatchEvent(new Event('online'));
  expect(load).toHaveBeenCalledTimes(2);
});

test('a preload requests one chunk at a time, and none after it was stopped', async () => {
  const { preloadChunksWhenIdle } = await import('./lazy-chunk.ts');
  const answers = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const loads = answers.map(({ promise }) => vi.fn(() => promise));
  const requests = (): number[] => loads.map((load) => load.mock.calls.length);
  const stop = preloadChunksWhenIdle(loads.slice(0, 2), loads[2]!);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requests()).toEqual([1, 0, 0]);
  answers[0]!.reject(new Error('offline'));
  await vi.advanceTimersByTimeAsync(0);
  expect(requests()).toEqual([1, 1, 0]);
  stop();
  answers[1]!.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(requests()).toEqual([1, 1, 0]);
});
