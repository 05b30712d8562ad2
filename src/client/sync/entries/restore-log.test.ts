/** Tests that a deleted log can be brought back, against a simulated server with one row for each day. */
import { beforeEach, expect, test } from 'vitest';
import { day, type Day } from '#domain/day/day.ts';
import type { Failure, StoredLog } from '#client/sync/save-requests.ts';
import { createTestSavers, log } from '../../../../tests/support/day-saver-harness.ts';
import { replaceUndoably, restoreLog } from './restore-log.ts';

const MONDAY = day('2026-11-16');

let rows: Map<Day, StoredLog>;
let failure: Failure | null;
let removed: { date: Day; html: string }[];
beforeEach(() => {
  rows = new Map();
  failure = null;
  removed = [];
});

const store = (date: Day, html: string, revision = 1): StoredLog => {
  const row = { id: 'row', html, revision, savedAt: 0 };
  rows.set(date, row);
  return row;
};

function openTab() {
  return createTestSavers({
    transport: {
      read: async (date) => failure ?? { kind: 'read', stored: rows.get(date) ?? null },
      async insert(date, html) {
        if (failure) return failure;
        return rows.has(date) ? { kind: 'changed' } : { kind: 'stored', ...store(date, html) };
      },
      async update(date, html, { revision }) {
        if (failure) return failure;
        if (rows.get(date)?.revision !== revision) return { kind: 'changed' };
        return { kind: 'stored', ...store(date, html, revision + 1) };
      },
      async remove(date, { revision }) {
        if (failure) return failure;
        if (rows.get(date)?.revision !== revision) return { kind: 'changed' };
        rows.delete(date);
        return { kind: 'removed' };
      },
    },
    onRemoved: (date, html) => removed.push({ date, html }),
  });
}

async function emptyDay(savers: ReturnType<typeof openTab>, html = log('one', 'two')): Promise<void> {
  savers.open(MONDAY, store(MONDAY, html), 0).rewrite(() => '<ol><li><p></p></li></ol>', 0);
  await savers.flush();
}

test('a save that deletes a log reports the text that the server had', async () => {
  const savers = openTab();
  const saver = savers.open(MONDAY, store(MONDAY, log('one')), 0);
  saver.rewrite(() => log('one', 'never saved'), 0);
  saver.rewrite(() => '', 0);
  await savers.flush();
  expect(rows.size).toBe(0);
  expect(removed).toEqual([{ date: MONDAY, html: log('one') }]);
});

test('other saves, and a log that another page has deleted, report no deletion', async () => {
  const savers = openTab();
  const saver = savers.open(MONDAY, store(MONDAY, log('one')), 0);
  saver.rewrite(() => log('other'), 0);
  await savers.flush();
  rows.delete(MONDAY);
  saver.takeRow(null, 1);
  expect(saver.view().stored).toBeNull();
  expect(removed).toEqual([]);
});

test('a deletion that the server does not confirm reports nothing', async () => {
  const savers = openTab();
  failure = { kind: 'unreachable' };
  await emptyDay(savers);
  expect(removed).toEqual([]);
});

test.each([log('one', 'two'), '<p>same</p><p>same</p><ul><li><p>a</p></li></ul><ul><li><p>b</p></li></ul>'])(
  'a deleted log comes back exactly as it was: %s',
  async (html) => {
    const savers = openTab();
    await emptyDay(savers, html);
    expect(await restoreLog(savers, MONDAY, html)).toBe(true);
    expect(rows.get(MONDAY)?.html).toBe(html);
  },
);

test('a log of a day that this page has not opened comes back', async () => {
  expect(await restoreLog(openTab(), MONDAY, log('one'))).toBe(true);
  expect(rows.get(MONDAY)?.html).toBe(log('one'));
});

test('lines written since the deletion stay', async () => {
  const savers = openTab();
  await emptyDay(savers);
  savers.get(MONDAY)!.rewrite(() => log('new'), 0);
  expect(await restoreLog(savers, MONDAY, log('one', 'two'))).toBe(true);
  expect(rows.get(MONDAY)?.html).toBe(log('new', 'one', 'two'));
});

test('a log that another page has written on the day meanwhile is not overwritten', async () => {
  store(MONDAY, log('from the phone'));
  const savers = openTab();
  await restoreLog(savers, MONDAY, log('one'));
  expect(rows.get(MONDAY)?.html).toContain('from the phone');
  expect(savers.get(MONDAY)!.text()).toContain('one');
});

test('a text that the user replaced comes back, with the lines written since', async () => {
  const savers = openTab();
  const saver = savers.open(MONDAY, store(MONDAY, log('one')), 0);
  saver.rewrite(() => log('one', 'mine'), 0);
  const undo = replaceUndoably(savers, saver, () => saver.rewrite(() => log('theirs'), 0));
  saver.rewrite(() => log('theirs', 'since'), 0);
  await savers.flush();
  await undo();
  await savers.flush();
  expect(rows.get(MONDAY)?.html).toBe(log('one', 'mine', 'since'));
});

test('a replacement computed from a text that the page no longer has changes nothing', () => {
  const saver = openTab().open(MONDAY, null, 0);
  saver.subscribe(() => saver.rewrite((text) => (text === log('typed') ? null : log('quick')), 0));
  saver.rewrite(() => log('typed'), 0);
  expect(saver.text()).toBe(log('typed'));
});

test('without a connection the text waits in this browser and is sent later', async () => {
  const savers = openTab();
  failure = { kind: 'unreachable' };
  expect(await restoreLog(savers, MONDAY, log('one'))).toBe(false);
  expect(savers.unsentDays()).toEqual([MONDAY]);
  failure = null;
  savers.retry();
  await savers.flush();
  expect(rows.get(MONDAY)?.html).toBe(log('one'));
});
