/** The product on a seeded database, with a browser, for benchmarks that measure a page from within. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from '@playwright/test';
import pg from 'pg';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { ensureBrowser } from '../../scripts/browser.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import { startProcess } from '../processes.ts';
import { openSeededDatabase } from '../seeded-database.ts';

type SeededProduct = { url: string; sql: pg.Client; browser: Browser; close: () => Promise<void> };

export async function openSeededProduct(): Promise<SeededProduct> {
  const database = await openSeededDatabase();
  await buildClient();
  const app = await startProcess(
    join('src', 'server', 'main.ts'),
    {
      DATABASE_URL: database.url,
      DATA_DIR: database.dataDir,
      SANDBOX: 'off',
      // The quota of 32 MB a minute would be what is measured.
      AUTH_RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
    },
    '/readyz',
  );
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  const browser = await chromium.launch({
    executablePath: await ensureBrowser(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return {
    // The server only accepts the host of PUBLIC_URL, which is `localhost` by default.
    url: app.url.replace('127.0.0.1', 'localhost'),
    sql,
    browser,
    async close() {
      await browser.close();
      await sql.end();
      await app.stop();
      await database.close();
    },
  };
}

/** Signs a new user up in the page's browser and returns the user's id. */
export async function signUp(page: Page, url: string): Promise<string> {
  const answer = await page.request.post(`${url}/auth/v1/signup`, {
    headers: { apikey: PUBLISHABLE_KEY },
    data: { email: `${randomUUID()}@example.com`, password: 'correct horse', data: { name: 'Ada' } },
  });
  const session = (await answer.json()) as { user: { id: string } };
  await page.goto(`${url}/healthz`);
  await page.evaluate((value) => localStorage.setItem('sb-localhost-auth-token', value), JSON.stringify(session));
  return session.user.id;
}

/** Returns a function that reads the page's longest task since this call, in milliseconds; 0 if all took below 50 ms. */
export async function watchLongestTask(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const longest = { ms: 0 };
    Object.assign(globalThis, { longest });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
    }).observe({ type: 'longtask' });
  });
  return () => page.evaluate(() => (globalThis as unknown as { longest: { ms: number } }).longest.ms);
}
