/**
 * Ten years of logs exported and brought back, in a real browser on the real server: how long the four files take, what
 * they cost in the browser's memory, and whether the same comes back.
 *
 * Memory is the highest size of the page's JavaScript heap while a file is made, garbage that nobody has collected yet
 * included, and the whole file, which the browser keeps as blobs beside it. What all processes of the browser together
 * have grown by in the meantime (resident, as Linux counts it) is printed with it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from '@playwright/test';
import type { Page } from '@playwright/test';
import pg from 'pg';
import { entryText } from '#domain/log/entry-text.ts';
import type { ReadDay } from '#domain/export/exported-entry.ts';
import { readMarkdown } from '#domain/export/markdown-format.ts';
import { readText } from '#domain/export/text-format.ts';
import { PUBLISHABLE_KEY } from '#server/config.ts';
import { ensureBrowser } from '../scripts/browser.ts';
import { buildClient } from '../scripts/build-client.ts';
import { printFigures } from './figures.ts';
import type { Figure } from './figures.ts';
import { residentMegabytes, startProcess } from './processes.ts';
import { openSeededDatabase } from './seeded-database.ts';

const DAYS = 3_650;
const LIMIT_SECONDS = 3;
const LIMIT_MEGABYTES = 150;
const LIMIT_TASK_MS = 200;
const MEGABYTE = 1_000_000;
const FORMATS = ['Plain text', 'Markdown', 'HTML', 'JSON'] as const;

/** About 2 KB as the editor writes it, each unlike the others: lists in lists, marks, a little code, other scripts. */
const LOG_SQL = `
  '<h2 class="date-header">' || to_char(day, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2><ol>' ||
  (select string_agg(format(
     '<li><p>Moved the needle on part %s of %s, wrote the <strong>test</strong> first &amp; shipped it before lunch</p>' ||
     '<ul><li><p>日本語 · עברית · 1. not a list · snake_case %s</p></li></ul></li>',
     item, day::date, md5(day::text || item)), '' order by item)
   from generate_series(1, 9) item) || '</ol><pre><code>if (x) {' || chr(10) || '  y();' || chr(10) || '}</code></pre>'`;

const database = await openSeededDatabase();
await buildClient();
const app = await startProcess(
  join('src', 'server', 'main.ts'),
  {
    DATABASE_URL: database.url,
    DATA_DIR: database.dataDir,
    SANDBOX: 'off',
    AUTH_RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
  },
  '/readyz',
);
const url = app.url.replace('127.0.0.1', 'localhost');
const sql = new pg.Client({ connectionString: database.url });
const browser = await chromium.launch({
  executablePath: await ensureBrowser(),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  await sql.connect();
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const userId = await signUp(page);
  await sql.query("update public.profiles set subscription_plan = 'premium'");
  await sql.query(
    `insert into public.entries (user_id, date, content, ai_feedback, hustle_score, ai_analyzed_at)
     select $1, day::date, ${LOG_SQL}, 'You shipped. Do it again tomorrow.', 7, day
       from generate_series(current_date - ($2::int - 1), current_date, interval '1 day') day`,
    [userId, DAYS],
  );
  await page.goto(`${url}/settings`);
  await page.getByRole('button', { name: 'Export All Entries' }).isEnabled();

  const figures: Figure[] = [];
  const files = new Map<string, string>();
  // The first file also loads the code of its format, as everybody's first one does.
  for (const format of FORMATS) {
    const { text, figures: own } = await exported(page, format);
    files.set(format, text);
    figures.push(...own);
  }
  figures.push(sameText('Plain text', readText(files.get('Plain text')!), await wordsOf(userId)));
  figures.push(sameText('Markdown', readMarkdown(files.get('Markdown')!), await wordsOf(userId)));
  figures.push(await comesBack(page, userId, files.get('JSON')!));
  printFigures(`Exporting ${DAYS.toLocaleString('en-US')} days of ${await averageBytes(userId)} bytes`, figures);
} finally {
  await browser.close();
  await sql.end();
  await app.stop();
  await database.close();
}

async function signUp(page: Page): Promise<string> {
  const answer = await page.request.post(`${url}/auth/v1/signup`, {
    headers: { apikey: PUBLISHABLE_KEY },
    data: { email: `${randomUUID()}@example.com`, password: 'correct horse', data: { name: 'Ada' } },
  });
  const session = (await answer.json()) as { expires_in: number; user: { id: string } };
  await page.goto(`${url}/healthz`);
  const kept = { expires_at: Math.floor(Date.now() / 1000) + session.expires_in, ...session };
  await page.evaluate((value) => localStorage.setItem('sb-localhost-auth-token', value), JSON.stringify(kept));
  return session.user.id;
}

async function exported(page: Page, format: string): Promise<{ text: string; figures: Figure[] }> {
  await page.getByRole('radio', { name: format }).check();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  await page.evaluate(() => {
    const longest = { ms: 0 };
    Object.assign(globalThis, { longest });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
    }).observe({ type: 'longtask' });
  });
  const pids = await browserProcesses();
  const before = await megabytesOf(pids);
  let [heap, resident] = [0, before];
  let busy = true;
  const watching = (async () => {
    while (busy) {
      const { metrics } = await cdp.send('Performance.getMetrics');
      heap = Math.max(heap, metrics.find((metric) => metric.name === 'JSHeapUsedSize')?.value ?? 0);
      resident = Math.max(resident, await megabytesOf(pids));
      await delay(25);
    }
  })();

  const startedAt = performance.now();
  const coming = page.waitForEvent('download', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Export All Entries' }).click();
  const download = await coming;
  const seconds = (performance.now() - startedAt) / 1000;
  const text = await readFile(await download.path(), 'utf8');
  busy = false;
  await watching;

  const longest = await page.evaluate(() => (globalThis as unknown as { longest: { ms: number } }).longest.ms);
  const blob = Buffer.byteLength(text) / MEGABYTE;
  const memory = heap / MEGABYTE + blob;
  await cdp.detach();
  const figures: Figure[] = [
    {
      what: `${format}, from the click to the file`,
      measured: `${seconds.toFixed(2)} s for ${blob.toFixed(1)} MB`,
      toReach: `at most ${LIMIT_SECONDS} s`,
      reached: seconds <= LIMIT_SECONDS,
    },
    {
      what: `${format}, memory of the browser`,
      measured:
        `${memory.toFixed(0)} MB (heap ${(heap / MEGABYTE).toFixed(0)} MB and the file; ` +
        `all processes grew by ${(resident - before).toFixed(0)} MB)`,
      toReach: `at most ${LIMIT_MEGABYTES} MB`,
      reached: memory <= LIMIT_MEGABYTES,
    },
    {
      what: `${format}, the longest that the page did not answer`,
      measured: longest === 0 ? 'below 50 ms' : `${longest.toFixed(0)} ms`,
      toReach: `at most ${LIMIT_TASK_MS} ms`,
      reached: longest <= LIMIT_TASK_MS,
    },
  ];
  return { text, figures };
}

/** Everything that this process has started and that is a browser; nothing where there is no /proc. */
async function browserProcesses(): Promise<number[]> {
  const parents = new Map<number, number>();
  const browsers = new Set<number>();
  for (const name of await readdir('/proc').catch(() => [])) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const match = /^(\d+) \((.*)\) \S+ (\d+)/s.exec(stat);
    if (!match) continue;
    parents.set(Number(match[1]), Number(match[3]));
    if (/chrom|headless/i.test(match[2]!)) browsers.add(Number(match[1]));
  }
  return [...browsers].filter((pid) => {
    let at: number | undefined = pid;
    while (at !== undefined && at > 1 && at !== process.pid) at = parents.get(at);
    return at === process.pid;
  });
}

async function megabytesOf(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(residentMegabytes));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

async function averageBytes(userId: string): Promise<string> {
  const { rows } = await sql.query<{ bytes: number }>(
    'select avg(octet_length(content))::int as bytes from public.entries where user_id = $1',
    [userId],
  );
  return rows[0]!.bytes.toLocaleString('en-US');
}

async function wordsOf(userId: string): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ day: string; content_text: string }>(
    'select date::text as day, content_text from public.entries where user_id = $1',
    [userId],
  );
  return new Map(rows.map((row) => [row.day, row.content_text]));
}

function sameText(format: string, reads: Iterable<ReadDay>, words: Map<string, string>): Figure {
  let same = 0;
  for (const read of reads) {
    if (read.kind === 'day' && words.get(read.day.date) === entryText(read.day.content)) same += 1;
  }
  return {
    what: `${format}, days that come back with identical text`,
    measured: `${same.toLocaleString('en-US')} of ${words.size.toLocaleString('en-US')}`,
    toReach: 'all',
    reached: same === words.size && same === DAYS,
  };
}

async function hashOf(userId: string): Promise<string> {
  const { rows } = await sql.query<{ row: string }>(
    `select json_build_array(date, content, hustle_score, ai_feedback, ai_analyzed_at)::text as row
       from public.entries where user_id = $1 order by date`,
    [userId],
  );
  const hash = createHash('sha256');
  for (const { row } of rows) hash.update(`${row}\n`);
  return `${rows.length} ${hash.digest('hex')}`;
}

/** Everything deleted, and the file put in by the screen that everybody has. */
async function comesBack(page: Page, userId: string, json: string): Promise<Figure> {
  const before = await hashOf(userId);
  await sql.query('delete from public.entries where user_id = $1', [userId]);
  const buffer = Buffer.from(json);
  await page.getByLabel('File to import').setInputFiles({ name: 'all.json', mimeType: 'application/json', buffer });
  const startedAt = performance.now();
  await page.getByRole('button', { name: /^Import [\d,]+ Days$/ }).click();
  await page.getByText(/^Done: /).waitFor({ timeout: 120_000 });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await hashOf(userId);
  return {
    what: 'JSON, imported into an empty journal',
    measured: `${after === before ? 'the same hash' : 'another hash'} (in ${seconds.toFixed(1)} s)`,
    toReach: 'the same hash',
    reached: after === before,
  };
}
