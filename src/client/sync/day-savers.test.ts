/** The savers of all days together: what counts as unsent, and what happens to it when the user signs out. */
import { beforeEach, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { MemoryStorage, log } from '../../../tests/support/day-saver-harness.ts';
import { createDaySavers } from './day-savers.ts';
import type { Failure } from './save-outcome.ts';

const MONDAY = day('2026-11-16');
const TUESDAY = day('2026-11-17');
const DRAFT = { html: log('from another tab'), baseRevision: null, at: 1, base: '', sent: [] };

let storage: MemoryStorage;
let failure: Failure | null;
let inserted: string[];
let now: number;
beforeEach(() => {
  now = 0;
  storage = new MemoryStorage();
  failure = null;
  inserted = [];
});

/** Nothing leaves by itself: no timer ever rings. */
function openTab(writer: string) {
  const drafts = createDayDrafts(storage, 'ada', writer);
  const savers = createDaySavers({
    transport: {
      read: () => Promise.resolve(failure ?? { kind: 'read', stored: null }),
      insert(_date, html) {
        if (failure) return Promise.resolve(failure);
        inserted.push(html);
        return Promise.resolve({ kind: 'stored', id: 'row', revision: 1, savedAt: 0 });
      },
      update: () => Promise.resolve({ kind: 'changed' }),
      remove: () => Promise.resolve({ kind: 'changed' }),
    },
    timers: { now: () => now, after: () => () => undefined },
    drafts,
    isOnline: () => true,
    onStored: () => undefined,
  });
  return { drafts, savers };
}

test('words of this tab and drafts of other tabs are unsent, each day once', () => {
  const { savers } = openTab('one');
  savers.open(TUESDAY, null, 0).write(log('a'), 2_000);
  savers.open(MONDAY, null, 0);
  const other = openTab('two');
  other.drafts.keep(MONDAY, DRAFT);
  other.drafts.keep(TUESDAY, DRAFT);
  expect(savers.unsentDays()).toEqual([MONDAY, TUESDAY]);
});

test('the words of a tab that was closed without a connection outlive what another tab writes on that day', async () => {
  failure = { kind: 'unreachable' };
  const [first, second] = [openTab('one').savers, openTab('two').savers];
  first.open(MONDAY, null, 0);
  second.open(MONDAY, null, 0).write(log('written in the second'), 0);
  second.close();
  now = 1;
  first.opened(MONDAY)!.write(log('written in the first'), 0);
  first.close();
  failure = null;
  expect(await openTab('three').savers.sendAll()).toEqual([]);
  expect(inserted).toEqual([log('written in the first', 'written in the second')]);
});

test('a user who signs out sends what an error had stopped and what another tab left', async () => {
  const { savers } = openTab('one');
  failure = { kind: 'refused', reason: 'no' };
  savers.open(TUESDAY, null, 0).write(log('a'), 0);
  savers.open(MONDAY, null, 0);
  openTab('two').drafts.keep(MONDAY, DRAFT);
  expect(await savers.sendBeforeSignOut()).toEqual([MONDAY, TUESDAY]);
  failure = null;
  expect(await savers.sendBeforeSignOut()).toEqual([]);
  expect(inserted.sort()).toEqual([log('a'), DRAFT.html].sort());
  expect(storage.length).toBe(0);
});

test('after the user has signed out nothing writes a draft again', () => {
  const { savers } = openTab('one');
  const saver = savers.open(TUESDAY, null, 0);
  saver.write(log('a'), 2_000);
  savers.hide();
  expect(storage.length).toBe(1);
  savers.forget();
  storage.clear();
  saver.write(log('ab'), 2_000);
  savers.hide();
  expect(storage.length).toBe(0);
  // Or the browser would ask whether the page may be left.
  expect(savers.isSafe()).toBe(true);
});

test('words are newer than a sign-out once they were kept after it, and while no draft has them', () => {
  const { savers } = openTab('one');
  const saver = savers.open(TUESDAY, null, 0);
  const isNewer = () => savers.keepNewerThan(10);
  expect(isNewer()).toBe(false);
  now = 5;
  saver.write(log('a'), 2_000);
  expect(isNewer()).toBe(true);
  savers.hide();
  expect(isNewer()).toBe(false);
  // The same words in the draft once more are no newer ones.
  now = 20;
  savers.hide();
  expect(isNewer()).toBe(false);
  saver.write(log('ab'), 2_000);
  savers.hide();
  expect(isNewer()).toBe(true);
});
