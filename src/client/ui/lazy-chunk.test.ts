/** Tests chunks that are rendered before they have loaded, and the preloading of chunks while the page is idle. */
import { createElement, Suspense, type ComponentType } from 'react';
import { prerender } from 'react-dom/static';
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

type Greeted = { name: string };

async function render(View: ComponentType<Greeted>): Promise<string> {
  const { prelude } = await prerender(createElement(Suspense, null, createElement(View, { name: 'Jo' })));
  return (await new Response(prelude).text()).replaceAll(/<!--.*?-->/g, '');
}

const Greeting = ({ name }: { name: string }) => createElement('p', null, `Hello ${name}`);

test('a view that is rendered before it has loaded appears once it has', async () => {
  const { lazyChunk } = await import('./lazy-chunk.ts');
  const importView = vi.fn(() => Promise.resolve(Greeting));
  const chunk = lazyChunk(importView);
  expect(await render(chunk.LoadingView)).toBe('<p>Hello Jo</p>');
  expect(chunk.isLoaded()).toBe(true);
  expect(await render(chunk.LoadingView)).toBe('<p>Hello Jo</p>');
  expect(importView).toHaveBeenCalledOnce();
});

test('a view that could not be loaded shows its fallback, and itself once a later load has succeeded', async () => {
  const { lazyChunk } = await import('./lazy-chunk.ts');
  const importView = vi.fn(() => Promise.resolve(Greeting)).mockRejectedValueOnce(new Error('offline'));
  const chunk = lazyChunk(importView, ({ name }) => createElement('p', null, `${name} is offline`));
  expect(await render(chunk.LoadingView)).toBe('<p>Jo is offline</p>');
  await chunk.load();
  expect(await render(chunk.LoadingView)).toBe('<p>Hello Jo</p>');
});

test('a view that the page adds below its text renders nothing until it has loaded, also after a failure', async () => {
  const { lazyChunk } = await import('./lazy-chunk.ts');
  const importView = vi.fn(() => Promise.resolve(Greeting)).mockRejectedValueOnce(new Error('offline'));
  const chunk = lazyChunk(importView);
  expect(await render(chunk.View)).toBe('');
  expect(importView).not.toHaveBeenCalled();
  await expect(chunk.load()).rejects.toThrow('offline');
  expect(await render(chunk.View)).toBe('');
  await chunk.load();
  expect(await render(chunk.View)).toBe('<p>Hello Jo</p>');
});
