/** Helpers for tests of chunk loading: the error message, and a release that removes chunks. */
import type { Locator, Page } from '@playwright/test';
import { expect } from './test.ts';

export const chunkErrorToast = (page: Page): Locator =>
  page.getByRole('alert').filter({ hasText: "Couldn't load this. Check your connection and try again." });

/** Waits until the page has requested these built scripts, given the names of their sources. */
export async function expectFetched(page: Page, files: readonly string[]): Promise<void> {
  const fetched = () =>
    page.evaluate(
      async (wanted) => {
        // A fake clock of Playwright has a fake `performance` without entries.
        const entries = await new Promise<PerformanceEntryList>((resolve) => {
          const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
          observer.observe({ type: 'resource', buffered: true });
        });
        const names = entries.map(({ name }) => name);
        return wanted.filter((file) => names.some((name) => name.includes(`/${file}-`) && name.endsWith('.js')));
      },
      [...files],
    );
  await expect.poll(fetched).toEqual(files);
}

/**
 * Answers 404 for these files, as after a release. Once the returned function was called, the next page load gets them.
 */
export async function makeChunksStale(page: Page, files: string): Promise<() => void> {
  let loads = -Infinity;
  page.on('request', (request) => (loads += Number(request.isNavigationRequest())));
  await page.route(files, (route) => (loads < 1 ? route.fulfill({ status: 404 }) : route.fallback()));
  return () => (loads = 0);
}
