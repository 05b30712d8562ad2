/** A browser and a server for the benchmarks of the editor. */
import { randomUUID } from 'node:crypto';
import { chromium, type Browser, type CDPSession, type Page } from '@playwright/test';
import { build } from 'vite';
import { dayOf } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { ensureBrowser } from '../../scripts/browser.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import { startProcess, type Running } from '../processes.ts';

export const EDITOR = '.ProseMirror[contenteditable=true]';

export type JournalBrowser = {
  browser: Browser;
  app: Running;
  /**
   * Signs up a user with `html` as today's log. Returns a signed-in page on `origin` (by default the app's) that shows
   * /healthz, so that none of the app's scripts has run before the measurement.
   */
  openSignedInPage: (html: string, origin?: string) => Promise<Page>;
  close: () => Promise<void>;
};

export async function openJournalBrowser(): Promise<JournalBrowser> {
  const executablePath = await ensureBrowser();
  await buildClient();
  const app = await startProcess('tests/support/product.ts', {}, '/readyz');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  return {
    browser,
    app,
    openSignedInPage: async (html, origin = app.url.replace('127.0.0.1', 'localhost')) => {
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
      await signUp(page, origin, html);
      return page;
    },
    close: async () => {
      await browser.close();
      await app.stop();
    },
  };
}

export type Session = { access_token: string; refresh_token: string; user: { id: string } };

const HEADERS = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };

/** Signs up a user with `html` as today's log; without a log if it is empty. */
export async function createAccount(origin: string, email: string, password: string, html: string): Promise<Session> {
  const data = { email, password, data: { name: 'Ada' } };
  const session = (await post(`${origin}/auth/v1/signup`, HEADERS, data)) as Session;
  if (html === '') return session;
  const headers = { ...HEADERS, authorization: `Bearer ${session.access_token}` };
  await post(`${origin}/rest/v1/entries`, headers, {
    user_id: session.user.id,
    date: dayOf(new Date()),
    content: html,
  });
  return session;
}

async function post(url: string, headers: Record<string, string>, data: object): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return text === '' ? null : JSON.parse(text);
}

async function signUp(page: Page, url: string, html: string): Promise<void> {
  const session = await createAccount(url, `${randomUUID()}@example.com`, 'correct horse', html);
  await page.goto(`${url}/healthz`);
  await page.evaluate((value) => localStorage.setItem('sb-localhost-auth-token', value), JSON.stringify(session));
}

/** Builds one script for the browser, without the product's build. */
export async function bundleScript(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, target: 'es2023', rolldownOptions: { input: entry } },
  });
  const outputs = Array.isArray(built) ? built : [built];
  for (const result of outputs) {
    if ('output' in result) return result.output[0].code;
  }
  throw new Error('the bundle is empty');
}

/** Creates a log of `items` numbered items with `words` words each. */
export function createLogHtml(items: number, words: number): string {
  const text = Array.from({ length: words }, (_, index) => (index % 7 === 3 ? 'reconciliation' : 'word')).join(' ');
  return `<ol>${`<li><p>${text}</p></li>`.repeat(items)}</ol>`;
}

/** The total time that the page's main thread has spent on tasks. */
export async function mainThreadMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return (metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}
