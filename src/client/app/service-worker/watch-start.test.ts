import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PUSH_CACHE } from '#client/lib/service-worker-rules.ts';
import { removeServiceWorker, watchStart } from './watch-start.ts';

let isRootEmpty: boolean;
let answer: (response: Response) => void;
let fail: () => void;
const reload = vi.fn();
beforeEach(() => {
  // The timer of a late start would otherwise fire when `document` is gone.
  vi.useFakeTimers();
  isRootEmpty = true;
  reload.mockClear();
  const serviceWorker = { controller: {}, getRegistrations: async () => [], getRegistration: async () => undefined };
  vi.stubGlobal('navigator', { serviceWorker });
  vi.stubGlobal('caches', { keys: async () => [] });
  vi.stubGlobal('location', { reload });
  vi.stubGlobal('document', { querySelector: () => (isRootEmpty ? {} : null) });
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (answer = resolve)));
  vi.stubGlobal('addEventListener', (_type: string, listener: () => void) => (fail = listener));
  watchStart();
});
afterEach(() => void vi.useRealTimers());
const settle = () => vi.advanceTimersByTimeAsync(0);

test('reloads a page that an error stops before it shows anything', async () => {
  fail();
  answer(new Response());
  await settle();
  expect(reload).toHaveBeenCalledOnce();
});

test('does not reload a page that has started while the server was asked', async () => {
  fail();
  isRootEmpty = false;
  answer(new Response());
  await settle();
  expect(reload).not.toHaveBeenCalled();
});

test('removes the caches of the service worker, except that of the push device', async () => {
  const remove = vi.fn<(name: string) => Promise<boolean>>(async () => true);
  vi.stubGlobal('caches', { keys: async () => ['hustle-forge:shell:1', PUSH_CACHE, 'another'], delete: remove });
  await removeServiceWorker();
  expect(remove.mock.calls).toEqual([['hustle-forge:shell:1']]);
});
