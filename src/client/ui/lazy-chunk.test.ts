/** Tests the preloading of chunks while the page is idle. */
import { expect, test, vi } from 'vitest';

test('a preload that failed without a connection is repeated when the connection returns', async () => {
  vi.useFakeTimers();
  const page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  vi.stubGlobal('window', {});
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
