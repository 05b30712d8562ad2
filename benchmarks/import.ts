/**
 * Imports twenty years of another journal in a real browser, as Markdown in JSON and as HTML notes: duration, the
 * longest task of the page, and the size of the requests. Checks that every day arrives with its words, and undoes the
 * import.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addDays, utcDayOf, type Day } from '#domain/day/day.ts';
import { openSeededProduct, signUp, watchLongestTask } from './browser/seeded-product.ts';
import { printFigures, type Figure } from './figures.ts';

const DAYS = 7_300;
const FILE_MEGABYTES = 74;
const LIMIT_TASK_MS = 200;
/** The limit of nginx, unless it is set. */
const LIMIT_REQUEST_BYTES = 1024 ** 2;
const MEGABYTE = 1_000_000;
const STEP_TIMEOUT_MS = 900_000;

const today = utcDayOf(new Date());
const dates: Day[] = Array.from({ length: DAYS }, (_, index) => addDays(today, -1 - index));
const SENTENCE =
  'Moved the needle on the report, wrote the **test** first & shipped it before lunch · 日本語 · עברית. ';
const REPEATS = Math.floor((FILE_MEGABYTES * MEGABYTE) / DAYS / (SENTENCE.length + 40));
const lastWord = (date: Day): string => `end-of-${date}`;

const markdownOf = (date: Day): string =>
  `${Array.from({ length: REPEATS }, (_, line) => `${line % 5 === 0 ? '- ' : ''}${SENTENCE}`).join('\n')}\n\n${lastWord(date)}`;
const htmlOf = (date: Day): string =>
  `${`<div>${SENTENCE.replace('&', '&amp;')}<b>bold</b></div><ul><li>item</li></ul>`.repeat(REPEATS)}<div>${lastWord(date)}</div>`;

const FILES: readonly (readonly [name: string, write: () => string])[] = [
  [
    'journal.json',
    () =>
      JSON.stringify({
        tags: {},
        entries: dates.map((date) => ({ title: 'A day.', body: markdownOf(date), date, time: '21:00' })),
      }),
  ],
  [
    'journal.enex',
    () =>
      `<?xml version="1.0" encoding="UTF-8"?><en-export>${dates
        .map(
          (date) =>
            `<note><title>A day.</title><created>${date.replaceAll('-', '')}T120000Z</created><content><![CDATA[<en-note>${htmlOf(date)}</en-note>]]></content></note>`,
        )
        .join('\n')}</en-export>`,
  ],
];

const product = await openSeededProduct();
const { url, sql, browser } = product;
const folder = await mkdtemp(join(tmpdir(), 'import-'));
try {
  const figures: Figure[] = [];
  for (const [name, write] of FILES) {
    const path = join(folder, name);
    const text = write();
    await writeFile(path, text);
    figures.push(...(await importFile(name, path, Buffer.byteLength(text))));
  }
  printFigures(`Importing ${DAYS.toLocaleString('en-US')} days of another journal`, figures);
} finally {
  await product.close();
  await rm(folder, { recursive: true });
}

async function importFile(name: string, path: string, bytes: number): Promise<Figure[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: 'UTC' });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  const userId = await signUp(page, url);
  let largestRequest = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/import-entries'))
      largestRequest = Math.max(largestRequest, request.postDataBuffer()?.length ?? 0);
  });
  await page.goto(`${url}/settings`);
  await page.getByRole('button', { name: 'Choose Files' }).waitFor();
  const readLongestTask = await watchLongestTask(page);
  const seconds: number[] = [];
  const time = async (step: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await step();
    seconds.push((performance.now() - startedAt) / 1000);
  };
  await time(async () => {
    await page.getByLabel('File to import').setInputFiles(path);
    await page.getByRole('button', { name: /^Import [\d,]+ Days$/ }).waitFor();
  });
  await time(async () => {
    await page.getByRole('button', { name: /^Import [\d,]+ Days$/ }).click();
    await page.getByText(/^Imported /).waitFor();
  });
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from public.entries
      where user_id = $1 and content_text like 'A day.%' and content_text like '%end-of-' || date::text`,
    [userId],
  );
  const written = rows[0]!.count;
  await time(async () => {
    await page.getByRole('button', { name: 'Undo Import' }).click();
    await page.getByRole('button', { name: /^Undo [\d,]+ Days$/ }).click();
    await page.getByText(/^The import is undone/).waitFor();
  });
  const left = await sql.query('select from public.entries where user_id = $1', [userId]);
  const longest = await readLongestTask();
  await context.close();
  const [reading, writing, undoing] = seconds as [number, number, number];
  return [
    {
      what: `${name}, days that arrive with their words`,
      measured: `${written.toLocaleString('en-US')} of a file of ${(bytes / MEGABYTE).toFixed(0)} MB; ${left.rowCount} after the undo`,
      target: 'all, and none',
      isMet: written === DAYS && left.rowCount === 0,
    },
    {
      what: `${name}, preview, import, undo`,
      measured: `${reading.toFixed(1)} s, ${writing.toFixed(1)} s, ${undoing.toFixed(1)} s`,
      target: 'none: it depends on the machine',
      isMet: true,
    },
    {
      what: `${name}, longest task of the page`,
      measured: longest === 0 ? 'below 50 ms' : `${longest.toFixed(0)} ms`,
      target: `at most ${LIMIT_TASK_MS} ms`,
      isMet: longest <= LIMIT_TASK_MS,
    },
    {
      what: `${name}, largest request`,
      measured: `${(largestRequest / 1024).toFixed(0)} KB`,
      target: 'below 1 MB',
      isMet: largestRequest > 0 && largestRequest < LIMIT_REQUEST_BYTES,
    },
  ];
}
