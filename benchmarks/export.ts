/**
 * Exports and re-imports ten years of logs in a real browser: duration and memory of the four formats, and whether the
 * import restores the same content.
 *
 * Memory is the peak size of the page's JavaScript heap during the export, including uncollected garbage, plus the
 * file, which the browser holds as blobs outside the heap. The growth of all browser processes (resident memory on
 * Linux) is also printed.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { entryText } from '#domain/log/entry-text.ts';
import type { ParsedDay } from '#domain/exported-entry.ts';
import { readMarkdown } from '#domain/journals/own-export.ts';
import { readText } from '#domain/export/formats/text-format.ts';
import { openSeededProduct, signUp, watchLongestTask } from './browser/seeded-product.ts';
import { printFigures, type Figure } from './figures.ts';
import { residentMegabytes } from './processes.ts';

const DAYS = 3_650;
const LIMIT_SECONDS = 3;
const LIMIT_MEGABYTES = 150;
const LIMIT_TASK_MS = 200;
const MEGABYTE = 1_000_000;
const FORMATS = ['Plain text', 'Markdown', 'HTML', 'JSON'] as const;

/** Unique logs of about 2 KB in the editor's HTML: nested lists, marks, code, several scripts. */
const LOG_SQL = `
  '<h2 class="date-header">' || to_char(day, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2><ol>' ||
  (select string_agg(format(
     '<li><p>Moved the needle on part %s of %s, wrote the <strong>test</strong> first &amp; shipped it before lunch</p>' ||
     '<ul><li><p>日本語 · עברית · 1. not a list · snake_case %s</p></li></ul></li>',
     item, day::date, md5(day::text || item)), '' order by item)
   from generate_series(1, 9) item) || '</ol><pre><code>if (x) {' || chr(10) || '  y();' || chr(10) || '}</code></pre>'`;

const product = await openSeededProduct();
const { url, sql, browser } = product;
try {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const userId = await signUp(page, url);
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
  // The first export includes loading the code of its format, as it does for users.
  for (const format of FORMATS) {
    const { text, figures: own } = await exportAs(page, format);
    files.set(format, text);
    figures.push(...own);
  }
  figures.push(compareTexts('Plain text', readText(files.get('Plain text')!), await loadTexts(userId)));
  figures.push(compareTexts('Markdown', readMarkdown(files.get('Markdown')!), await loadTexts(userId)));
  figures.push(await importAgain(page, userId, files.get('JSON')!));
  printFigures(`Exporting ${DAYS.toLocaleString('en-US')} days of ${await averageBytes(userId)} bytes`, figures);
} finally {
  await product.close();
}

async function exportAs(page: Page, format: string): Promise<{ text: string; figures: Figure[] }> {
  await page.getByRole('radio', { name: format }).check();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  const readLongestTask = await watchLongestTask(page);
  const pids = await findBrowserProcesses();
  const before = await sumResidentMegabytes(pids);
  let [heap, resident] = [0, before];
  let busy = true;
  const watching = (async () => {
    while (busy) {
      const { metrics } = await cdp.send('Performance.getMetrics');
      heap = Math.max(heap, metrics.find((metric) => metric.name === 'JSHeapUsedSize')?.value ?? 0);
      resident = Math.max(resident, await sumResidentMegabytes(pids));
      await delay(25);
    }
  })();

  const startedAt = performance.now();
  const downloadEvent = page.waitForEvent('download', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Export All Entries' }).click();
  const download = await downloadEvent;
  const seconds = (performance.now() - startedAt) / 1000;
  const text = await readFile(await download.path(), 'utf8');
  busy = false;
  await watching;

  const longest = await readLongestTask();
  const blob = Buffer.byteLength(text) / MEGABYTE;
  const memory = heap / MEGABYTE + blob;
  await cdp.detach();
  const figures: Figure[] = [
    {
      what: `${format}, from the click to the file`,
      measured: `${seconds.toFixed(2)} s for ${blob.toFixed(1)} MB`,
      target: `at most ${LIMIT_SECONDS} s`,
      isMet: seconds <= LIMIT_SECONDS,
    },
    {
      what: `${format}, memory of the browser`,
      measured:
        `${memory.toFixed(0)} MB (heap ${(heap / MEGABYTE).toFixed(0)} MB and the file; ` +
        `all processes grew by ${(resident - before).toFixed(0)} MB)`,
      target: `at most ${LIMIT_MEGABYTES} MB`,
      isMet: memory <= LIMIT_MEGABYTES,
    },
    {
      what: `${format}, longest task of the page`,
      measured: longest === 0 ? 'below 50 ms' : `${longest.toFixed(0)} ms`,
      target: `at most ${LIMIT_TASK_MS} ms`,
      isMet: longest <= LIMIT_TASK_MS,
    },
  ];
  return { text, figures };
}

/** Returns the browser processes among this process's descendants. Empty without /proc. */
async function findBrowserProcesses(): Promise<number[]> {
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
    let ancestor: number | undefined = pid;
    while (ancestor !== undefined && ancestor > 1 && ancestor !== process.pid) ancestor = parents.get(ancestor);
    return ancestor === process.pid;
  });
}

async function sumResidentMegabytes(pids: readonly number[]): Promise<number> {
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

async function loadTexts(userId: string): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ day: string; content_text: string }>(
    'select date::text as day, content_text from public.entries where user_id = $1',
    [userId],
  );
  return new Map(rows.map((row) => [row.day, row.content_text]));
}

function compareTexts(format: string, reads: Iterable<ParsedDay>, words: Map<string, string>): Figure {
  let same = 0;
  for (const read of reads) {
    if (read.kind === 'day' && words.get(read.day.date) === entryText(read.day.content)) same += 1;
  }
  return {
    what: `${format}, days that come back with identical text`,
    measured: `${same.toLocaleString('en-US')} of ${words.size.toLocaleString('en-US')}`,
    target: 'all',
    isMet: same === words.size && same === DAYS,
  };
}

async function hashEntries(userId: string): Promise<string> {
  const { rows } = await sql.query<{ row: string }>(
    `select json_build_array(date, content, hustle_score, ai_feedback, ai_analyzed_at)::text as row
       from public.entries where user_id = $1 order by date`,
    [userId],
  );
  const hash = createHash('sha256');
  for (const { row } of rows) hash.update(`${row}\n`);
  return `${rows.length} ${hash.digest('hex')}`;
}

/** Deletes all entries and imports the file through the settings screen. */
async function importAgain(page: Page, userId: string, json: string): Promise<Figure> {
  const before = await hashEntries(userId);
  await sql.query('delete from public.entries where user_id = $1', [userId]);
  const buffer = Buffer.from(json);
  await page.getByLabel('File to import').setInputFiles({ name: 'all.json', mimeType: 'application/json', buffer });
  const startedAt = performance.now();
  await page.getByRole('button', { name: /^Import [\d,]+ Days$/ }).click();
  await page.getByText(/^Imported /).waitFor({ timeout: 120_000 });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await hashEntries(userId);
  return {
    what: 'JSON, imported into an empty journal',
    measured: `${after === before ? 'the same hash' : 'another hash'} (in ${seconds.toFixed(1)} s)`,
    target: 'the same hash',
    isMet: after === before,
  };
}
