import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, day, type Day } from '#domain/day/day.ts';
import { textWriter } from '#domain/export/formats/text-format.ts';
import { EntryReadError, createExportRun, ExportRejected, type EntryReader, type StoredDay } from './read-entries.ts';

const FIRST = day('2020-01-01');
const datesOf = (count: number): Day[] => Array.from({ length: count }, (_, index) => addDays(FIRST, index));

const stored = (date: Day, text = `Day ${date}`): StoredDay => ({
  ...{ date, content: `<p>${text}</p>`, id: date, revision: 1 },
  ...{ hustle_score: null, ai_feedback: null, ai_analyzed_at: null },
});

/** Returns a log for each date; requests that `fails` selects are rejected. */
function readerOf(dates: Day[], fails: (request: number) => boolean = () => false, text?: string) {
  const requests: number[] = [];
  const reader: EntryReader = {
    dates: async () => [...dates],
    days: async (wanted) => {
      requests.push(wanted.length);
      if (fails(requests.length)) throw new EntryReadError('no');
      return wanted.map((date) => stored(date, text));
    },
  };
  return { reader, requests };
}

const never = new AbortController().signal;
const expected = (dates: Day[]): string =>
  dates
    .map((date) => textWriter().entry({ ...stored(date), hustleScore: null, feedback: null, analyzedAt: null }, 0))
    .join('');

function runOf(reader: EntryReader, record: () => Promise<void> = async () => undefined) {
  return createExportRun({ reader, writer: textWriter(), type: 'text/plain;charset=utf-8', record });
}

test('retries after random failures until the file contains each day once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_500 }),
      fc.array(fc.boolean(), { maxLength: 8 }),
      async (count, fails) => {
        const dates = datesOf(count);
        const { reader } = readerOf(dates, (request) => fails[request - 1] ?? false);
        const run = runOf(reader);
        const seen: number[] = [];
        for (let attempt = 0; attempt <= fails.length; attempt += 1) {
          try {
            const result = await run.run(never, ({ done, total }) => {
              expect(total).toBe(count);
              seen.push(done);
            });
            expect(result!.days).toBe(count);
            expect(await result!.file.text()).toBe(expected(dates));
            expect(seen.at(-1)).toBe(count);
            expect([...seen].sort((a, b) => a - b)).toEqual(seen);
            return;
          } catch (error) {
            expect(error).toBeInstanceOf(EntryReadError);
          }
        }
        throw new Error('the export never completed');
      },
    ),
    { numRuns: 60 },
  );
});

test('an empty journal creates no file and records no export', async () => {
  let recorded = 0;
  const run = runOf(readerOf([]).reader, async () => void (recorded += 1));
  expect(await run.run(never, () => undefined)).toBeNull();
  expect(recorded).toBe(0);
});

test('creates no file if the export cannot be recorded, and reads no page twice on a retry', async () => {
  const { reader, requests } = readerOf(datesOf(300));
  let refusals = 1;
  const run = runOf(reader, async () => {
    if (refusals-- > 0) throw new ExportRejected('no');
  });
  await expect(run.run(never, () => undefined)).rejects.toThrow(ExportRejected);
  const before = requests.length;
  expect((await run.run(never, () => undefined))!.days).toBe(300);
  expect(requests.length).toBe(before);
});

test('stops between two pages when cancelled', async () => {
  const { reader, requests } = readerOf(datesOf(5_000));
  const stop = new AbortController();
  await expect(runOf(reader).run(stop.signal, () => stop.abort())).rejects.toThrow();
  expect(requests.length).toBeLessThanOrEqual(2);
});

test('a second run after a cancel contains each day once', async () => {
  const dates = datesOf(500);
  const run = runOf(readerOf(dates).reader);
  const stop = new AbortController();
  await expect(run.run(stop.signal, () => stop.abort())).rejects.toThrow();
  expect(await (await run.run(never, () => undefined))!.file.text()).toBe(expected(dates));
});

test('adapts the page size to the size of the logs', async () => {
  const large = readerOf(datesOf(400), undefined, 'x'.repeat(200_000));
  await runOf(large.reader).run(never, () => undefined);
  expect(Math.max(...large.requests.slice(2))).toBe(10);
  const small = readerOf(datesOf(3_000));
  await runOf(small.reader).run(never, () => undefined);
  expect(Math.max(...small.requests)).toBe(500);
});
