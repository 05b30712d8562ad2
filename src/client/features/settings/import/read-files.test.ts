/** Takes the messages of a worker, which the test plays. */
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { MAX_FILES } from './open-files.ts';
import { readFiles, type StartReading } from './read-files.ts';
import type { ReadEntry, ReadMessage } from './read-journal.ts';

const entry = (date: string, html: string): ReadEntry => ({
  day: day(date),
  time: null,
  title: null,
  html,
  exact: false,
  source: 'a.json',
  pictures: 0,
  coach: null,
  isForeignHtml: false,
});

function startWith(...messages: ReadMessage[]) {
  let stops = 0;
  const start: StartReading = (_request, receive) => {
    for (const message of messages) queueMicrotask(() => receive(message));
    return () => void (stops += 1);
  };
  return { start, stops: () => stops };
}
const options = { zone: 'UTC', now: new Date('2026-11-21T09:59:59Z'), signal: new AbortController().signal };
const read = (start: StartReading, signal = options.signal, progress: unknown[] = []) =>
  readFiles([], { ...options, signal, start, onProgress: (...now) => progress.push(now) });

test('imports a day that has begun somewhere on Earth, as the server does', async () => {
  const { start } = startWith(
    { kind: 'batch', entries: [entry('2026-11-22', '<p>a</p>')], skipped: [] },
    { kind: 'done' },
  );
  expect((await read(start)).skipped.map(({ reason }) => reason)).toEqual(['futureDay']);
  const later = { ...options, now: new Date('2026-11-21T10:00:00Z'), onProgress: () => undefined };
  expect((await readFiles([], { ...later, start })).days.map(({ date }) => date)).toEqual(['2026-11-22']);
});

test('joins the entries of all messages, reports their number, and stops the worker', async () => {
  const { start, stops } = startWith(
    { kind: 'program', program: 'jrnl' },
    { kind: 'batch', entries: [entry('2026-11-20', '<p>a</p>')], skipped: [] },
    {
      kind: 'batch',
      entries: [entry('2026-11-20', '<p>b</p>'), entry('2026-11-22', '<p>c</p>')],
      skipped: [{ kind: 'skipped', source: 'x', reason: 'trashed' }],
    },
    { kind: 'done' },
  );
  const progress: unknown[] = [];
  const { program, days, skipped } = await read(start, options.signal, progress);
  expect(program).toBe('jrnl');
  expect(days.map(({ date, content }) => [date, content])).toEqual([['2026-11-20', '<p>a</p><p></p><p>b</p>']]);
  expect(skipped.map(({ reason }) => reason)).toEqual(['trashed', 'futureDay']);
  expect(progress).toEqual([
    ['jrnl', 1],
    ['jrnl', 3],
  ]);
  expect(stops()).toBe(1);
});

test('rejects with the reason of a refusal', async () => {
  const { start, stops } = startWith({ kind: 'refused', text: 'Too large.' });
  await expect(read(start)).rejects.toThrow('Too large.');
  expect(stops()).toBe(1);
});

test('stops the worker when the user cancels, although no message arrives', async () => {
  const { start, stops } = startWith();
  const stop = new AbortController();
  const reading = read(start, stop.signal);
  stop.abort();
  await expect(reading).rejects.toThrow();
  expect(stops()).toBe(1);
});

test('refuses too many files before any is copied to the worker', async () => {
  const chosen = Array.from({ length: MAX_FILES + 1 }, () => ({ path: 'a', file: new File([], 'a') }));
  const { start } = startWith();
  const reading = readFiles(chosen, {
    ...options,
    start: (...given) => {
      expect.unreachable('the worker was started');
      return start(...given);
    },
    onProgress: () => undefined,
  });
  await expect(reading).rejects.toThrow('More than 50,000 files');
});
