import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { day, type Day } from '#domain/day/day.ts';
import { createTestSavers, createVirtualTime, log } from '../../../../tests/support/day-saver-harness.ts';
import { DATES_KEY, entryKey, EntryReadError, type ReadEntry } from '../entries/entry-queries.ts';
import type { Failure, StoredLog, WriteOutcome } from '../save-requests.ts';
import { createRemoteChanges } from './live-sync.ts';

const TODAY = day('2026-11-22');
const OTHER = day('2026-11-20');
const rowOf = (revision: number, ...items: string[]): StoredLog => ({
  ...{ id: 'row', revision, html: log(...items), savedAt: 0 },
});

let row: StoredLog | null;
let reads: number;
/** How reads fail, if they do. */
let failure: Failure | null;
let isComposing: boolean;
let answerSave: (outcome: WriteOutcome) => void;
/** Delays the answer to a read, which has the row of the time of its request. */
let readMs: number;
let time: ReturnType<typeof createVirtualTime>;
let page: ReturnType<typeof openPage>;
beforeEach(() => {
  row = rowOf(1, 'mine');
  reads = 0;
  failure = null;
  isComposing = false;
  readMs = 0;
  time = createVirtualTime();
  page = openPage();
});
afterEach(() => page.close());

/** A page with today's log on screen, wired like the journal. */
function openPage() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  queries.setQueryData<ReadEntry>(entryKey(TODAY), { stored: row, readAt: time.timers.now() });
  queries.setQueryData<Day[]>(DATES_KEY, [TODAY]);
  const save = (): Promise<WriteOutcome> => new Promise((resolve) => (answerSave = resolve));
  const savers = createTestSavers({
    transport: { read: () => Promise.resolve({ kind: 'read', stored: row }), insert: save, update: save, remove: save },
    timers: time.timers,
    onStored: (date, stored) => queries.setQueryData<ReadEntry>(entryKey(date), { stored, readAt: time.timers.now() }),
  });
  const saver = savers.open(TODAY, row, 1);
  saver.attachEditor({ read: () => saver.text(), replace: () => undefined, isComposing: () => isComposing });
  const observer = new QueryObserver<ReadEntry>(queries, {
    queryKey: entryKey(TODAY),
    queryFn: async () => {
      reads += 1;
      if (failure) throw new EntryReadError(failure);
      const answer = { stored: row, readAt: time.timers.now() };
      if (readMs > 0) await new Promise<void>((resolve) => void time.timers.after(readMs, resolve));
      return answer;
    },
  });
  const unsubscribe = observer.subscribe(({ data }) => {
    if (data) savers.open(TODAY, data.stored, data.readAt);
  });
  const copies = { storeCopy: async () => undefined };
  const changes = createRemoteChanges({ savers, copies, queries, timers: time.timers });
  return {
    ...{ queries, saver, changes },
    dates: () => queries.getQueryData<Day[]>(DATES_KEY),
    close(): void {
      changes.close();
      unsubscribe();
      queries.clear();
    },
  };
}

const stored = (revision: number, date = TODAY) => ({ date, stored: true, id: 'row', revision });

test('a change of the open day is read once and shown', async () => {
  row = rowOf(2, 'mine', 'theirs');
  page.changes.apply(stored(2));
  await time.advance(0);
  expect(page.saver.text()).toBe(log('mine', 'theirs'));
  await time.advance(60_000);
  expect(reads).toBe(1);
});

test.each([1, 0])('revision %i of the row that the page has causes no request', async (revision) => {
  page.changes.apply(stored(revision));
  await time.advance(60_000);
  expect(reads).toBe(0);
});

test('a log that was deleted and written again is read, although its revision is lower', async () => {
  row = { ...rowOf(1, 'new'), id: 'another row' };
  page.changes.apply({ date: TODAY, stored: true, id: 'another row', revision: 1 });
  await time.advance(0);
  expect(page.saver.text()).toBe(log('new'));
});

test("the page's own save causes no request, whether its event comes before or after the answer", async () => {
  page.saver.rewrite(() => log('mine', 'more'), 0);
  await time.advance(0);
  page.changes.apply(stored(2));
  await time.advance(0);
  answerSave({ kind: 'stored', id: 'row', revision: 2, savedAt: 0 });
  await time.advance(0);
  page.changes.apply(stored(2));
  await time.advance(60_000);
  expect(reads).toBe(0);
});

test('a change that follows an own save in flight is read after its answer', async () => {
  page.saver.rewrite(() => log('mine', 'more'), 0);
  await time.advance(0);
  page.changes.apply(stored(2));
  page.changes.apply(stored(3));
  await time.advance(5_000);
  expect(reads).toBe(0);
  row = rowOf(3, 'mine', 'more', 'theirs');
  answerSave({ kind: 'stored', id: 'row', revision: 2, savedAt: 0 });
  // A read within the millisecond of the answer is taken for older, so the day is read again.
  await time.advance(1_000);
  expect(page.saver.text()).toBe(log('mine', 'more', 'theirs'));
});

test('a change during a long composition is shown once the composition has ended', async () => {
  isComposing = true;
  row = rowOf(2, 'theirs');
  page.changes.apply(stored(2));
  await time.advance(60_500);
  expect(page.saver.text()).toBe(log('mine'));
  isComposing = false;
  await time.advance(1_000);
  expect(page.saver.text()).toBe(log('theirs'));
  await time.advance(60_000);
  expect(reads).toBe(2);
});

test('the dates follow without a request', async () => {
  page.changes.apply(stored(1, OTHER));
  expect(page.dates()).toEqual([TODAY, OTHER]);
  page.changes.apply(stored(2, OTHER));
  expect(page.dates()).toEqual([TODAY, OTHER]);
  page.changes.apply({ date: OTHER, stored: false });
  expect(page.dates()).toEqual([TODAY]);
  await time.advance(0);
  expect(reads).toBe(0);
});

test('a day that is not on screen is read when it is opened', () => {
  page.queries.setQueryData<ReadEntry>(entryKey(OTHER), { stored: null, readAt: 0 });
  page.changes.apply(stored(1, OTHER));
  expect(page.queries.getQueryState(entryKey(OTHER))?.isInvalidated).toBe(true);
});

test('a day that is deleted while it is read becomes empty, although a copy without a log was shown', async () => {
  page.saver.replaceWith(null);
  await time.advance(1);
  readMs = 100;
  void page.queries.invalidateQueries({ queryKey: entryKey(TODAY) });
  await time.advance(10);
  row = null;
  page.changes.apply({ date: TODAY, stored: false });
  await time.advance(200);
  expect(page.saver.view().stored).toBeNull();
  expect(page.saver.text()).toBe('');
});

test('a deleted day becomes empty', async () => {
  row = null;
  page.changes.apply({ date: TODAY, stored: false });
  await time.advance(0);
  expect(page.saver.view().stored).toBeNull();
  expect(page.dates()).toEqual([]);
});

test('catching up reads the open day and marks every other day and the dates as stale', async () => {
  page.queries.setQueryData<ReadEntry>(entryKey(OTHER), { stored: null, readAt: 0 });
  row = rowOf(5, 'theirs');
  page.changes.catchUp();
  await time.advance(0);
  expect(page.saver.text()).toBe(log('theirs'));
  for (const key of [entryKey(OTHER), DATES_KEY]) expect(page.queries.getQueryState(key)?.isInvalidated).toBe(true);
});

test('catching up reads the open day again if the server did not answer', async () => {
  row = rowOf(5, 'theirs');
  failure = { kind: 'unreachable' };
  page.changes.catchUp();
  await time.advance(2_500);
  expect(reads).toBe(3);
  // A later catch-up replaces the earlier one.
  page.changes.catchUp();
  failure = null;
  await time.advance(1_500);
  expect(page.saver.text()).toBe(log('theirs'));
  const readsUntilShown = reads;
  await time.advance(60_000);
  expect(reads).toBe(readsUntilShown);
});

test.each([
  [{ kind: 'unreachable' }, 7],
  [{ kind: 'locked' }, 2],
] as const)('catching up twice gives up once if every read answers %o', async (answer, count) => {
  failure = answer;
  page.changes.catchUp();
  await time.advance(500);
  page.changes.catchUp();
  await time.advance(60_000);
  expect(reads).toBe(count);
});
