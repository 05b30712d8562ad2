/**
 * Measures Lighthouse's scores of every kind of page on its simulated phone: the median of three runs. The signed-in
 * user is premium, with a year of logs and 60 days of feedback.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import lighthouse from 'lighthouse';
import pg from 'pg';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { ensureBrowser } from '../../scripts/browser.ts';
import { buildClient } from '../../scripts/build/build-client.ts';
import { median, printFigures, type Figure } from '../figures.ts';
import { startProduct } from '../processes.ts';
import { openSeededDatabase, writeYears } from '../seeded-database.ts';

const RUNS = 3;
const MIN_SCORE = 95;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
const GUEST_PAGES = { landing: '/', 'sign-up': '/signup', login: '/login' };
const MEMBER_PAGES = { journal: '/journal', reviews: '/reviews', settings: '/settings', profile: '/profile' };

const database = await openSeededDatabase();
await buildClient();
// Without a coach the reviews would be a notice. No request reaches the provider: nothing is generated.
const app = await startProduct(database, { AI_PROVIDER: 'google', AI_API_KEY: 'key', LOG_LEVEL: 'error' });
// The server only accepts the host of PUBLIC_URL, which is `localhost` by default.
const home = app.url.replace('127.0.0.1', 'localhost');
const debuggingPort = await freePort();
const profileDir = await mkdtemp(join(tmpdir(), 'hustle-forge-lighthouse-'));
// A persistent context, because Lighthouse opens its tabs in the browser's default context.
const browser = await chromium.launchPersistentContext(profileDir, {
  executablePath: await ensureBrowser(),
  args: [
    `--remote-debugging-port=${debuggingPort}`,
    '--no-sandbox',
    '--disable-background-networking',
    '--disable-sync',
  ],
});
try {
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(GUEST_PAGES)) figures.push(await measureScores(name, home + path));
  await signIn();
  for (const [name, path] of Object.entries(MEMBER_PAGES)) figures.push(await measureScores(name, home + path));
  printFigures('Lighthouse', figures);
} finally {
  await browser.close();
  await app.stop();
  await database.close();
  await rm(profileDir, { recursive: true, force: true });
}

/** Signs a new user up in the browser, and opens each page once, as a returning user has. */
async function signIn(): Promise<void> {
  const page = await browser.newPage();
  const answer = await page.request.post(`${home}/auth/v1/signup`, {
    headers: { apikey: PUBLISHABLE_KEY },
    data: { email: `${randomUUID()}@example.com`, password: 'correct horse battery', data: { name: 'Ada' } },
  });
  const session = await answer.text();
  await writeYears(database.url);
  await writeFeedback();
  await page.goto(`${home}/healthz`);
  await page.evaluate((value) => localStorage.setItem('sb-localhost-auth-token', value), session);
  for (const path of Object.values(MEMBER_PAGES)) {
    await page.goto(home + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  await page.close();
}

async function writeFeedback(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`
      insert into analyses (user_id, kind, date, score, text, input_hash, provider, model, prompt_version, finish_reason,
                            duration_ms)
      select user_id, 'feedback', date, 3 + extract(day from date)::int % 6, 'You shipped it before lunch.', '', 'google',
             'model', 1, 'stop', 1
        from entries where date > current_date - 60`);
  } finally {
    await client.end();
  }
}

async function measureScores(name: string, url: string): Promise<Figure> {
  const runs: Record<string, number>[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const result = await lighthouse(url, { port: debuggingPort, onlyCategories: [...CATEGORIES], logLevel: 'silent' });
    const { categories = {}, audits = {} } = result?.lhr ?? {};
    runs.push({
      ...Object.fromEntries(CATEGORIES.map((category) => [category, (categories[category]?.score ?? 0) * 100])),
      lcp: (audits['largest-contentful-paint']?.numericValue ?? Number.NaN) / 1_000,
      shift: audits['cumulative-layout-shift']?.numericValue ?? Number.NaN,
    });
  }
  const medianOf = (figure: string): number => median(runs.map((run) => run[figure]!));
  const scores = CATEGORIES.map((category) => `${category} ${medianOf(category).toFixed(0)}`).join(', ');
  return {
    what: `${name} page, mobile`,
    measured: `${scores} (largest paint ${medianOf('lcp').toFixed(1)} s, shift ${medianOf('shift').toFixed(3)})`,
    target: `at least ${MIN_SCORE} each`,
    isMet: CATEGORIES.every((category) => medianOf(category) >= MIN_SCORE),
  };
}
