import { describe, expect, test } from 'vitest';
import { addDays, day, type Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import {
  OWN_PROGRAM,
  IMPORT_MAX_ENTRIES,
  IMPORT_REQUEST_BYTES,
  type Choice,
  type ImportEntry,
} from '#domain/journals/import-plan.ts';
import type { EntryReader, StoredDay } from '../export/read-entries.ts';
import {
  countLocked,
  createImportRun,
  daysToWrite,
  planImport,
  runUndo,
  type Call,
  type RunProgress,
} from './import-run.ts';

const never = new AbortController().signal;
const FIRST = day('2020-01-01');
const datesOf = (count: number): Day[] => Array.from({ length: count }, (_, index) => addDays(FIRST, index));

/** A fake server that records batches, can lose its responses, and can refuse requests as a proxy or the quota does. */
function serverWith(logs: Record<string, string> = {}, locked: readonly string[] = []) {
  const rows = new Map<string, Version & { content: string }>();
  for (const [date, content] of Object.entries(logs)) rows.set(date, { content, id: 'first', revision: 1 });
  const batches: ImportEntry[][] = [];
  const importIds = new Set<unknown>();
  const refusals: { status: number; code?: string; error?: string; retryAfterSeconds?: number }[] = [];
  let lostAnswers = 0;
  let proxyBytes = Infinity;
  const reader: EntryReader = {
    dates: async (_signal, table) =>
      [...rows.keys()].filter((date) => table === 'entry_dates' || !locked.includes(date)).sort() as Day[],
    days: async (dates) =>
      dates.flatMap((date): StoredDay[] => {
        const row = rows.get(date);
        const none = { hustle_score: null, ai_feedback: null, ai_analyzed_at: null };
        return row ? [{ date, ...row, ...none }] : [];
      }),
  };
  const call: Call = async (_name, body) => {
    const { entries, importId } = body as { entries: ImportEntry[]; importId: string };
    const refusal = refusals.shift();
    if (refusal) return { success: false, ...refusal };
    if (new TextEncoder().encode(JSON.stringify(body)).length > proxyBytes) return { success: false, status: 413 };
    batches.push(entries);
    importIds.add(importId);
    const outcomes = entries.map(({ date, content, replaces }) => {
      const row = rows.get(date);
      const isAsSeen = row ? row.id === replaces?.id && row.revision === replaces.revision : replaces === null;
      if (!isAsSeen) return { date, outcome: 'changed' as const };
      rows.set(date, { content, id: row?.id ?? 'first', revision: (row?.revision ?? 0) + 1 });
      return { date, outcome: 'written' as const };
    });
    if (lostAnswers-- > 0) throw new TypeError('lost');
    return { success: true, status: 200, outcomes };
  };
  return {
    rows,
    batches,
    importIds,
    reader,
    call,
    refusals,
    limitProxy: (bytes: number) => void (proxyBytes = bytes),
    loseAnswers: (count: number) => void (lostAnswers = count),
  };
}

const fileOf = (days: Record<string, string>) => ({
  program: OWN_PROGRAM,
  skipped: [],
  days: Object.entries(days).map(([date, content]) => ({
    date: day(date),
    content,
    coach: null,
    exact: true,
    pictures: 0,
  })),
});

async function importInto(
  server: ReturnType<typeof serverWith>,
  days: Record<string, string>,
  choice: Choice = 'mine',
) {
  const plan = await planImport(fileOf(days), server.reader, never, () => undefined);
  const waited: number[] = [];
  const run = createImportRun({
    plan,
    choiceOf: () => choice,
    importId: 'import',
    call: server.call,
    reader: server.reader,
    wait: async (seconds, signal) => {
      waited.push(seconds);
      signal.throwIfAborted();
    },
  });
  return { plan, run, waited };
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
    expect([daysToWrite(plan, () => 'mine'), daysToWrite(plan, () => 'both')]).toEqual([
      ['2020-01-03'],
      ['2020-01-02', '2020-01-03'],
    ]);
    expect(server.batches).toEqual([]);
  });

  test('leaves a day with a locked log alone, and counts the days that will be locked', async () => {
    const server = serverWith({ '2020-01-01': '<p>a</p>' }, ['2020-01-01']);
    const { plan } = await importInto(server, { '2020-01-01': '<p>b</p>', '2020-01-02': '<p>b</p>' }, 'file');
    expect(plan.days.map(({ verdict }) => verdict)).toEqual(['locked', 'new']);
    const dates = daysToWrite(plan, () => 'file');
    expect(dates).toEqual(['2020-01-02']);
    expect([countLocked(dates, false, day('2020-01-31')), countLocked(dates, false, day('2020-02-01'))]).toEqual([
      0, 1,
    ]);
    expect(countLocked(dates, true, day('2026-01-01'))).toBe(0);
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

    expect([...server.importIds]).toEqual(['import']);

    const other = serverWith();
    const large = Object.fromEntries(datesOf(9).map((date) => [date, `<p>${'日'.repeat(80_000)}</p>`]));
    await (await importInto(other, large)).run.run(never, () => undefined);
    for (const entries of other.batches) {
      expect(new TextEncoder().encode(JSON.stringify({ importId: 'import', entries })).length).toBeLessThan(1024 ** 2);
      expect(IMPORT_REQUEST_BYTES).toBeLessThan(1024 ** 2);
    }
    expect(other.rows.size).toBe(9);
  });

  test('halves a request that a proxy refuses, down to a single day, which is refused by name', async () => {
    const server = serverWith();
    server.limitProxy(60_000);
    const days = Object.fromEntries(datesOf(40).map((date) => [date, `<p>${'x'.repeat(9_000)}</p>`]));
    days['2020-01-05'] = `<p>${'x'.repeat(100_000)}</p>`;
    const { run } = await importInto(server, days);
    await run.run(never, () => undefined);
    expect(run.summary.refused).toEqual([{ date: '2020-01-05', reason: 'tooLong' }]);
    expect(run.summary.added).toHaveLength(39);
    expect(server.rows.size).toBe(39);
  });

  test('waits as long as the server asks, and sends the same days again', async () => {
    const server = serverWith();
    server.refusals.push({ status: 429, retryAfterSeconds: 42 }, { status: 503 });
    const { run, waited } = await importInto(server, { '2020-01-01': '<p>a</p>' });
    const progress: RunProgress[] = [];
    await run.run(never, (now) => progress.push(now));
    expect(waited).toEqual([42, 5]);
    expect(progress.map(({ waitSeconds }) => waitSeconds).filter(Boolean)).toEqual([42, 5]);
    expect(run.summary.added).toEqual(['2020-01-01']);
  });

  test.each([
    ['the space is full', { status: 413, code: '53100', error: 'Your space is full.' }, 'Your space is full.'],
    ['an error without words', { status: 500 }, 'The server did not take these days.'],
  ])('stops at a refusal because of %s', async (_case, refusal, message) => {
    const server = serverWith();
    server.refusals.push(refusal);
    const { run } = await importInto(server, { '2020-01-01': '<p>a</p>' });
    await expect(run.run(never, () => undefined)).rejects.toThrow(message);
    await run.run(never, () => undefined);
    expect(run.summary.added).toEqual(['2020-01-01']);
  });

  test('counts a locked day as written after a lost response, although it cannot be read', async () => {
    const server = serverWith({}, ['2020-01-01']);
    const { run } = await importInto(server, { '2020-01-01': '<p>a</p>' });
    server.loseAnswers(1);
    await expect(run.run(never, () => undefined)).rejects.toThrow('lost');
    await run.run(never, () => undefined);
    expect(run.summary).toMatchObject({ added: ['2020-01-01'], changed: [] });
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

describe('runUndo', () => {
  test('repeats the call until nothing remains, and waits while the server is busy', async () => {
    const answers = [
      { success: true, status: 200, undone: 50, kept: [], remaining: 13 },
      { success: false, status: 503, retryAfterSeconds: 2 },
      { success: true, status: 200, undone: 12, kept: ['2020-01-01'], remaining: 0 },
    ];
    const calls: unknown[] = [];
    const progress: unknown[] = [];
    const summary = await runUndo(
      'import',
      async (name, body) => {
        calls.push([name, body]);
        return answers.shift()!;
      },
      never,
      (now) => progress.push(now),
      async () => undefined,
    );
    expect(summary).toEqual({ undone: 62, kept: ['2020-01-01'] });
    expect(calls).toEqual(Array.from({ length: 3 }, () => ['undo-import', { importId: 'import' }]));
    expect(progress).toEqual([
      { done: 50, total: 63 },
      { done: 50, total: 63, waitSeconds: 2 },
      { done: 50, total: 63 },
      { done: 63, total: 63 },
    ]);
  });

  test('waits while a quota is used up, as often as it takes between two steps that succeed', async () => {
    const refused = { success: false, status: 429, retryAfterSeconds: 3 };
    const step = (remaining: number) => ({ success: true, status: 200, undone: 50, kept: [], remaining });
    const burst = [...Array.from({ length: 8 }, () => refused)];
    const answers = [...burst, step(100), ...burst, step(50), ...burst, step(0)];
    const waited: number[] = [];
    const progress: unknown[] = [];
    const call: Call = async () => answers.shift()!;
    const summary = await runUndo(
      'import',
      call,
      never,
      (now) => progress.push(now),
      async (seconds) => void waited.push(seconds),
    );
    expect(summary.undone).toBe(150);
    expect(waited).toEqual(Array.from({ length: 24 }, () => 3));
    expect(progress).toContainEqual({ done: 50, total: 150, waitSeconds: 3 });
  });

  test('gives up after ten waits in a row', async () => {
    const call: Call = async () => ({ success: false, status: 429, error: 'Later.' });
    await expect(
      runUndo(
        'import',
        call,
        never,
        () => undefined,
        async () => undefined,
      ),
    ).rejects.toThrow('Later.');
  });

  test('stops at a refusal', async () => {
    const call: Call = async () => ({ success: false, status: 500, error: 'No.' });
    await expect(runUndo('import', call, never, () => undefined)).rejects.toThrow('No.');
  });
});

test('a later import of the same files counts the locked logs that an earlier one has written', async () => {
  const server = serverWith({ [FIRST]: '<p>a</p>' }, [FIRST]);
  const plan = await planImport(fileOf({ [FIRST]: 'a', [addDays(FIRST, 1)]: 'b' }), server.reader, never, () => {});
  const { run, summary } = createImportRun({ plan, choiceOf: () => 'both', importId: 'x', ...server });
  await run(never, () => {});
  expect(summary).toMatchObject({ added: [addDays(FIRST, 1)], locked: [FIRST] });
});
