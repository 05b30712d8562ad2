import { describe, expect, test } from 'vitest';
import { addDays, day } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { IMPORT_FILE_MAX_BYTES } from '#domain/export/import-plan.ts';
import type { Choice } from '#domain/export/import-plan.ts';
import { IMPORT_BATCH_CHARACTERS, IMPORT_MAX_ENTRIES } from '#domain/export/import-wire.ts';
import type { ImportEntry } from '#domain/export/import-wire.ts';
import { UnreadableFileError } from '#domain/export/read-file.ts';
import type { EntryReader, StoredDay } from '../export/read-entries.ts';
import { createImportRun, daysToWrite, planImport, readImport } from './import-run.ts';

const never = new AbortController().signal;
const FIRST = day('2020-01-01');
const datesOf = (count: number): Day[] => Array.from({ length: count }, (_, index) => addDays(FIRST, index));

/** A fake server that records batches and can lose its responses. */
function serverWith(logs: Record<string, string> = {}) {
  const rows = new Map<string, Version & { content: string }>();
  for (const [date, content] of Object.entries(logs)) rows.set(date, { content, id: 'first', revision: 1 });
  const batches: ImportEntry[][] = [];
  let lostAnswers = 0;
  const reader: EntryReader = {
    dates: async () => [...rows.keys()].sort() as Day[],
    days: async (dates) =>
      dates.flatMap((date): StoredDay[] => {
        const row = rows.get(date);
        const none = { hustle_score: null, ai_feedback: null, ai_analyzed_at: null };
        return row ? [{ date, ...row, ...none }] : [];
      }),
  };
  return {
    rows,
    batches,
    reader,
    loseAnswers: (count: number) => void (lostAnswers = count),
    async send(entries: ImportEntry[]) {
      batches.push(entries);
      const outcomes = entries.map(({ date, content, replaces }) => {
        const row = rows.get(date);
        const isAsSeen = row ? row.id === replaces?.id && row.revision === replaces.revision : replaces === null;
        if (!isAsSeen) return { date, outcome: 'changed' as const };
        rows.set(date, { content, id: row?.id ?? 'first', revision: (row?.revision ?? 0) + 1 });
        return { date, outcome: 'written' as const };
      });
      if (lostAnswers-- > 0) throw new TypeError('lost');
      return { success: true as const, outcomes };
    },
  };
}

const fileOf = (days: Record<string, string>) => ({
  exact: true,
  refused: [],
  days: Object.entries(days).map(([date, content]) => ({ date: day(date), content, coach: null })),
});

async function importInto(
  server: ReturnType<typeof serverWith>,
  days: Record<string, string>,
  choice: Choice = 'mine',
) {
  const plan = await planImport(fileOf(days), 'file.json', server.reader, never, () => undefined);
  return { plan, run: createImportRun({ plan, choiceOf: () => choice, send: server.send, reader: server.reader }) };
}

describe('planImport', () => {
  test('classifies days as new, same or different, and writes nothing', async () => {
    const server = serverWith({ '2020-01-01': '<p>a</p>', '2020-01-02': '<p>b</p>', '2020-01-09': '<p>z</p>' });
    const { plan } = await importInto(server, {
      '2020-01-03': '<p>new</p>',
      '2020-01-01': '<p>a</p>',
      '2020-01-02': '<p>other</p>',
    });
    expect(plan.days.map(({ day: { date }, verdict }) => [date, verdict])).toEqual([
      ['2020-01-01', 'same'],
      ['2020-01-02', 'differs'],
      ['2020-01-03', 'new'],
    ]);
    expect([daysToWrite(plan, () => 'mine'), daysToWrite(plan, () => 'both')]).toEqual([1, 2]);
    expect(server.batches).toEqual([]);
  });
});

describe('createImportRun', () => {
  test('keeps different days unless another choice is made', async () => {
    for (const [choice, expected] of [
      ['mine', '<p>mine</p>'],
      ['file', '<p>file</p>'],
      ['both', '<p>mine</p><h3>From the imported file</h3><p>file</p>'],
    ] as const) {
      const server = serverWith({ '2020-01-01': '<p>mine</p>' });
      const { run } = await importInto(server, { '2020-01-01': '<p>file</p>' }, choice);
      await run.run(never, () => undefined);
      expect(server.rows.get('2020-01-01')!.content).toBe(expected);
    }
  });

  test('sends batches within the limits of the server', async () => {
    const server = serverWith();
    const many = Object.fromEntries(datesOf(120).map((date) => [date, `<p>${date}</p>`]));
    const { run } = await importInto(server, many);
    await run.run(never, () => undefined);
    expect(server.batches.map((batch) => batch.length)).toEqual([IMPORT_MAX_ENTRIES, IMPORT_MAX_ENTRIES, 20]);

    const other = serverWith();
    const large = Object.fromEntries(datesOf(9).map((date) => [date, `<p>${'x'.repeat(200_000)}</p>`]));
    await (await importInto(other, large)).run.run(never, () => undefined);
    for (const batch of other.batches) {
      const characters = batch.reduce((sum, entry) => sum + entry.content.length, 0);
      expect(characters).toBeLessThanOrEqual(IMPORT_BATCH_CHARACTERS);
    }
    expect(other.rows.size).toBe(9);
  });

  test('resumes after lost responses and a cancel, and counts each day once', async () => {
    const server = serverWith();
    const dates = datesOf(180);
    const { run } = await importInto(server, Object.fromEntries(dates.map((date) => [date, `<p>${date}</p>`])));
    server.loseAnswers(2);
    await expect(run.run(never, () => undefined)).rejects.toThrow('lost');
    await expect(run.run(never, () => undefined)).rejects.toThrow('lost');
    const stop = new AbortController();
    await expect(run.run(stop.signal, ({ done }) => done > 0 && stop.abort())).rejects.toThrow();
    expect(run.summary.added).toHaveLength(IMPORT_MAX_ENTRIES);
    await run.run(never, () => undefined);
    expect([...run.summary.added].sort()).toEqual(dates);
    expect(run.summary.changed).toEqual([]);
    expect([...server.rows.values()].every(({ revision }) => revision === 1)).toBe(true);
  });

  test.each([
    ['changed', { id: 'first', revision: 2 }],
    ['was deleted and written again', { id: 'second', revision: 1 }],
  ])('skips a day that %s after the preview', async (_case, version) => {
    const server = serverWith({ '2020-01-01': '<p>mine</p>' });
    const { run } = await importInto(server, { '2020-01-01': '<p>file</p>' }, 'file');
    server.rows.set('2020-01-01', { content: '<p>meanwhile</p>', ...version });
    await run.run(never, () => undefined);
    expect(run.summary).toMatchObject({ changed: ['2020-01-01'], replaced: [] });
    expect(server.rows.get('2020-01-01')!.content).toBe('<p>meanwhile</p>');
  });
});

describe('readImport', () => {
  test.each([
    ['that is too large, without reading it', { size: IMPORT_FILE_MAX_BYTES + 1 }, 'tooLarge'],
    ['that is not UTF-8', new File([new Uint8Array([0xff, 0xfe, 0x41])], 'x.txt'), 'notText'],
    ['that contains a null character', new File(['Friday\0'], 'x.txt'), 'notText'],
    ['that is empty', new File([], 'x.txt'), 'notRecognised'],
  ])('rejects a file %s', async (_case, file, problem) => {
    await expect(readImport(file as File, never)).rejects.toEqual(new UnreadableFileError(problem as 'tooLarge'));
  });
});
