import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { day, type Day } from '#domain/day/day.ts';
import { createTestSavers, log, MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { addToMovedLog, moveLog, type SendMove } from './move-log.ts';
import type { EntryTransport, StoredLog } from '../save-requests.ts';

const FROM = day('2026-11-20');
const TO = day('2026-11-18');
const MOVE = { from: FROM, to: TO };

let rows: Map<Day, StoredLog>;
let storage: MemoryStorage;
let online: boolean;
let now: number;
let sent: number;

const next = (date: Day, html: string, id: string): StoredLog => {
  const row = { id, html, revision: (rows.get(date)?.revision ?? 0) + 1, savedAt: now };
  rows.set(date, row);
  return row;
};
const transport: EntryTransport = {
  read: async (date, id) => {
    const [elsewhere] = [...rows].filter(([other, row]) => other !== date && row.id === id);
    const moved = elsewhere && { date: elsewhere[0], html: elsewhere[1].html };
    return { kind: 'read', stored: rows.get(date) ?? null, moved };
  },
  insert: async (date, html) => {
    if (!online) return { kind: 'unreachable' };
    return rows.has(date) ? { kind: 'changed' } : { kind: 'stored', ...next(date, html, `row of ${date}`) };
  },
  update: async (date, html, { id, revision }) => {
    if (!online) return { kind: 'unreachable' };
    const row = rows.get(date);
    return row?.id === id && row.revision === revision
      ? { kind: 'stored', ...next(date, html, id) }
      : { kind: 'changed' };
  },
  remove: async () => ({ kind: 'unreachable' }),
};

/** Behaves like the server; the first `lost` responses do not arrive. */
const createSend =
  (lost = 0): SendMove =>
  async ({ from, to }, { id, revision }) => {
    sent += 1;
    if (rows.get(to)?.id !== id) {
      if (rows.has(to)) return { kind: 'taken' };
      const row = rows.get(from);
      if (row?.id !== id || row.revision !== revision) return { kind: 'changed' };
      rows.delete(from);
      rows.set(to, { ...row, revision: row.revision + 1 });
    }
    return sent <= lost ? { kind: 'unreachable', version: { id, revision } } : { kind: 'moved', log: rows.get(to)! };
  };

/** A tab of the same user in the same browser, with the day open. */
function openTab(writer: string) {
  const savers = createTestSavers({
    transport,
    timers: { now: () => (now += 1), after: () => () => {} },
    drafts: createDayDrafts(storage, 'ada', writer),
    isOnline: () => online,
  });
  const saver = savers.open(FROM, rows.get(FROM) ?? null, now);
  return { savers, saver };
}

beforeEach(() => {
  rows = new Map();
  storage = new MemoryStorage();
  online = true;
  now = 1_000;
  sent = 0;
  next(FROM, log('a'), 'row');
});

test('unsent text is moved as well, and the old day keeps no draft', async () => {
  const { savers, saver } = openTab('one');
  saver.rewrite(() => log('a', 'b'), 0);
  saver.storeDraft();
  expect(await moveLog(savers, createSend(), MOVE)).toMatchObject({ kind: 'moved' });
  expect([...rows.keys()]).toEqual([TO]);
  expect(rows.get(TO)?.html).toBe(log('a', 'b'));
  expect(saver.view()).toMatchObject({ stored: null, unsaved: false });
  expect(saver.text()).toBe('');
  expect(savers.get(TO)?.text()).toBe(log('a', 'b'));
  expect(storage.length).toBe(0);
});

test('later edits of both days are based on their rows after the move', async () => {
  const { savers, saver } = openTab('one');
  await moveLog(savers, createSend(), MOVE);
  saver.rewrite(() => log('new'), 0);
  savers.get(TO)!.rewrite(() => log('a', 'more'), 0);
  expect(await savers.flush()).toEqual([]);
  expect([rows.get(FROM)?.html, rows.get(TO)?.html]).toEqual([log('new'), log('a', 'more')]);
});

test('a new log of the old day stays if the answer to the move comes after it', async () => {
  const { savers, saver } = openTab('one');
  const send = createSend(1);
  const outcome = await moveLog(
    savers,
    async (...move) => {
      const answer = await send(...move);
      if (sent > 1) return answer;
      // The stream of changes has told the page of the move.
      saver.replaceWith(null);
      saver.rewrite(() => log('new'), 0);
      await saver.flush();
      return answer;
    },
    MOVE,
  );
  expect(outcome).toMatchObject({ kind: 'moved' });
  expect(saver.text()).toBe(log('new'));
  expect(saver.view()).toMatchObject({ unsaved: false, stored: rows.get(FROM) });
  expect(savers.get(TO)?.text()).toBe(log('a'));
});

test('a move with a lost response is retried, and the log is on one day', async () => {
  const { savers } = openTab('one');
  expect(await moveLog(savers, createSend(1), MOVE)).toMatchObject({ kind: 'moved' });
  expect(sent).toBe(2);
  expect([...rows.keys()]).toEqual([TO]);
});

test('a move without a response changes neither day until a retry succeeds', async () => {
  const { savers, saver } = openTab('one');
  const send = createSend(2);
  const version = { id: 'row', revision: 1 };
  expect(await moveLog(savers, send, MOVE)).toEqual({ kind: 'unreachable', version });
  expect(saver.text()).toBe(log('a'));
  // Meanwhile the page has read the day and found no log.
  saver.takeRow(null, (now += 1));
  expect(await moveLog(savers, send, MOVE, version)).toMatchObject({ kind: 'moved' });
  expect(saver.text()).toBe('');
});

test('a log with text that cannot be sent is not moved', async () => {
  const { savers, saver } = openTab('one');
  online = false;
  saver.rewrite(() => log('a', 'b'), 0);
  expect(await moveLog(savers, createSend(), MOVE)).toEqual({ kind: 'unsaved' });
  expect(sent).toBe(0);
  expect([...rows.keys()]).toEqual([FROM]);
});

test('an empty day is not moved, nor a log to a day with unsent text', async () => {
  const { savers } = openTab('one');
  expect(await moveLog(savers, createSend(), { from: TO, to: FROM })).toEqual({ kind: 'empty' });
  savers.open(TO, null, now).rewrite(() => log('waits'), 0);
  expect(await moveLog(savers, createSend(), MOVE)).toEqual({ kind: 'taken' });
  expect(sent).toBe(0);
});

test('undo moves the log back with its later edits', async () => {
  const { savers, saver } = openTab('one');
  await moveLog(savers, createSend(), MOVE);
  savers.get(TO)!.rewrite(() => log('a', 'more'), 0);
  expect(await moveLog(savers, createSend(), { from: TO, to: FROM })).toMatchObject({ kind: 'moved' });
  expect([...rows.keys()]).toEqual([FROM]);
  expect(saver.text()).toBe(log('a', 'more'));
});

test('text of a second tab on the old day is merged into the moved log only', async () => {
  const [first, second] = [openTab('one'), openTab('two')];
  second.saver.rewrite(() => log('a and more', 'of the second tab'), 0);
  await moveLog(first.savers, createSend(), MOVE);
  await second.saver.flush();
  expect(second.saver.view().conflict).toMatchObject({ moved: { date: TO } });
  expect([...rows.keys()]).toEqual([TO]);

  expect(await addToMovedLog(second.savers, transport, second.saver)).toBe(true);
  expect(await second.savers.flush()).toEqual([]);
  expect([...rows.keys()]).toEqual([TO]);
  expect(rows.get(TO)?.html).toBe(log('a and more', 'of the second tab'));
  expect(second.saver.view()).toMatchObject({ conflict: null, unsaved: false });
  expect(storage.length).toBe(0);
});

test('lines that the moved log got on its new day stay, and lines deleted on the old day stay deleted', async () => {
  rows.set(FROM, { ...rows.get(FROM)!, html: log('a', 'slip') });
  const [first, second] = [openTab('one'), openTab('two')];
  second.saver.rewrite(() => log('a', 'of the second tab'), 0);
  await moveLog(first.savers, createSend(), MOVE);
  first.savers.get(TO)!.rewrite(() => log('a', 'slip', 'since the move'), 0);
  await first.savers.flush();
  await second.saver.flush();

  expect(await addToMovedLog(second.savers, transport, second.saver)).toBe(true);
  expect(await second.savers.flush()).toEqual([]);
  expect(rows.get(TO)?.html).toBe(log('a', 'of the second tab', 'since the move'));
});

test('text whose draft the browser rejects leaves the old day only once the server has it', async () => {
  const [first, second] = [openTab('one'), openTab('two')];
  second.saver.rewrite(() => log('a', 'of the second tab'), 0);
  await moveLog(first.savers, createSend(), MOVE);
  await second.saver.flush();
  storage.maxValueLength = 0;

  const { update } = transport;
  let isTyping = true;
  transport.update = (...args) => {
    if (isTyping) second.saver.rewrite(() => log('a', 'of the second tab', 'typed meanwhile'), 0);
    isTyping = false;
    return update(...args);
  };
  onTestFinished(() => void (transport.update = update));
  expect(await addToMovedLog(second.savers, transport, second.saver)).toBe(false);
  expect(second.saver.text()).toContain('typed meanwhile');
  expect(await addToMovedLog(second.savers, transport, second.saver)).toBe(true);
  expect(rows.get(TO)?.html).toBe(log('a', 'of the second tab', 'typed meanwhile'));
});

test('a day that is kept, or added by an earlier click, while the other day loads is not added', async () => {
  for (const choose of ['keepBoth', 'takeTheirs'] as const) {
    rows = new Map([[FROM, { id: 'row', html: log('a'), revision: 1, savedAt: now }]]);
    const [first, second] = [openTab(`one ${choose}`), openTab(`two ${choose}`)];
    second.saver.rewrite(() => log('a', 'of the second tab'), 0);
    await moveLog(first.savers, createSend(), MOVE);
    await second.saver.flush();

    let load = (): void => {};
    const loading = new Promise<void>((resolve) => (load = resolve));
    const read: EntryTransport['read'] = (...args) => loading.then(() => transport.read(...args));
    const added = addToMovedLog(second.savers, { read }, second.saver);
    second.saver[choose]();
    second.saver.rewrite((html) => `${html}${log('of this day')}`, 0);
    load();
    expect(await added).toBe(false);
    expect(await second.savers.flush()).toEqual([]);
    expect(rows.get(TO)?.html).toBe(log('a'));
    expect(rows.get(FROM)?.html).toContain('of this day');
  }
});
