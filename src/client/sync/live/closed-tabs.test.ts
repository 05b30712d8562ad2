/** Tests with three tabs and the Web Locks of Node that one of the other tabs sends the drafts of a closed tab once. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { day, type Day } from '#domain/day/day.ts';
import {
  createTestSavers,
  createVirtualTime,
  log,
  MemoryStorage,
} from '../../../../tests/support/day-saver-harness.ts';
import { createDayDrafts, type Outbox, type OutboxDraft } from '../day-drafts.ts';
import type { Timers } from '../day-saver/day-saver.ts';
import type { EntryTransport, StoredLog, WriteOutcome } from '../save-requests.ts';
import { removeLostDrafts, watchOtherTabs } from './closed-tabs.ts';
import { createTabs } from '../store/tabs.ts';

const MONDAY = day('2026-11-16');
const TUESDAY = day('2026-11-17');

let storage: MemoryStorage;
/** The drafts in the database that all tabs share. */
let stored: Map<string, OutboxDraft>;
let time: ReturnType<typeof createVirtualTime>;
let rows: Map<Day, StoredLog>;
/** The tab and the text of each write that was sent. */
let writes: string[];
/** The tab that reported lost text, and its days. */
let reports: string[];
let isOnline: boolean;
/** The database does not answer. */
let isDatabaseStuck: boolean;
let closeAll: (() => void)[];
/** The tabs' listeners for changes that other tabs make in localStorage. */
let listeners: Map<string, (event: Pick<StorageEvent, 'key' | 'newValue'>) => void>;
let opening: string;
beforeEach(() => {
  storage = new MemoryStorage();
  stored = new Map();
  time = createVirtualTime();
  rows = new Map();
  writes = [];
  reports = [];
  isOnline = true;
  isDatabaseStuck = false;
  closeAll = [];
  listeners = new Map();
  vi.stubGlobal(
    'addEventListener',
    (type: string, listener: (event: Pick<StorageEvent, 'key' | 'newValue'>) => void) => {
      if (type === 'storage') listeners.set(opening, listener);
    },
  );
  vi.stubGlobal('removeEventListener', () => undefined);
});
afterEach(() => {
  for (const close of closeAll) close();
  vi.useRealTimers();
});

/** Lets the locks change hands and the requests be answered. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

async function advance(ms: number): Promise<void> {
  await settle();
  await time.advance(ms);
  for (let turn = 0; turn < 10; turn += 1) {
    await settle();
    await time.advance(0);
  }
}

const transportOf = (writer: string): EntryTransport => {
  type Sent = Promise<WriteOutcome>;
  const send = async (date: Day, html: string, id: string, revision: number): Sent => {
    writes.push(
      `${writer}: ${html
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/ +/g, ' ')
        .trim()}`,
    );
    await settle();
    if (!isOnline) return { kind: 'unreachable' };
    if ((rows.get(date)?.revision ?? 0) !== revision) return { kind: 'changed' };
    const row = { id, html, revision: revision + 1, savedAt: time.timers.now() };
    rows.set(date, row);
    return { kind: 'stored', ...row };
  };
  return {
    async read(date) {
      await settle();
      return isOnline ? { kind: 'read', stored: rows.get(date) ?? null } : { kind: 'unreachable' };
    },
    insert: (date, html, id) => send(date, html, id, 0),
    update: (date, html, { id, revision }) => send(date, html, id, revision),
    remove: async () => ({ kind: 'changed' }),
  };
};

async function openTab(writer: string) {
  opening = writer;
  let isKilled = false;
  const timers: Timers = { now: time.timers.now, after: (ms, run) => time.timers.after(ms, () => isKilled || run()) };
  const tabs = createTabs('ada', writer, () => {});
  const leave = tabs.join();
  const request = <T>(run: () => T): Promise<T> =>
    isDatabaseStuck ? new Promise<never>(() => {}) : Promise.resolve(run());
  const outbox: Outbox = {
    readAll: () => request(() => [...stored.values()]),
    put: (draft) => request(() => void stored.set(`${draft.date} ${draft.writer}`, draft)),
    remove: async (date, of) => void stored.delete(`${date} ${of}`),
    close: () => undefined,
    aliveWriters: tabs.aliveWriters,
  };
  const drafts = createDayDrafts(storage, 'ada', writer, outbox);
  const savers = createTestSavers({
    transport: tabs.serializeWrites(transportOf(writer)),
    timers,
    drafts,
    takeOverInTurn: tabs.takeOverInTurn,
    isOnline: () => isOnline,
  });
  await drafts.load();
  const reportLostText = async (): Promise<void> => {
    const days = await removeLostDrafts(storage, 'ada', outbox);
    if (days.length > 0) reports.push(`${writer}: ${days.join()}`);
  };
  const stop = watchOtherTabs({ drafts, tabs, savers, timers, reportLostText });
  const kill = (): void => {
    isKilled = true;
    stop();
    leave();
  };
  closeAll.push(kill);
  return {
    savers,
    kill,
    stop,
    /** Types a text, which is not sent before the debounce ends, and tells the other tabs of the draft. */
    type(date: Day, html: string): void {
      savers.open(date, rows.get(date) ?? null, time.timers.now()).rewrite(() => html, 60_000);
      savers.get(date)!.storeDraft();
      const event = { key: `hustle-forge:draft:ada:${date}:${writer}`, newValue: 'draft' };
      for (const [other, notify] of listeners) if (other !== writer) notify(event);
    },
  };
}

test('the draft of a killed tab is sent once, and the draft of an open tab is not sent by another tab', async () => {
  const [one, , three] = [await openTab('one'), await openTab('two'), await openTab('three')];
  three.type(MONDAY, log('of the killed tab'));
  one.type(TUESDAY, log('of the open tab'));
  three.kill();
  await advance(6_000);
  expect(writes).toEqual(['one: of the killed tab']);
  expect([...rows.keys()]).toEqual([MONDAY]);
});

test('drafts wait on a day with unsaved text, and are sent once that text is saved', async () => {
  const [one, two] = [await openTab('one'), await openTab('two')];
  two.type(MONDAY, log('of the killed tab'));
  one.type(MONDAY, log('of the open tab'));
  two.kill();
  await advance(6_000);
  expect(writes).toEqual([]);
  await one.savers.flush();
  await advance(0);
  expect(writes).toEqual(['one: of the open tab', 'one: of the killed tab of the open tab']);
  expect([storage.length, stored.size]).toEqual([0, 0]);
});

test('a page that is reloaded takes over its own drafts before the other tabs do', async () => {
  const [one, two] = [await openTab('one'), await openTab('two')];
  one.savers.open(MONDAY, null, time.timers.now());
  isOnline = false;
  two.type(MONDAY, log('typed offline'));
  two.kill();
  await advance(1_000);
  const reloaded = await openTab('two, reloaded');
  expect(reloaded.savers.open(MONDAY, null, time.timers.now()).text()).toBe(log('typed offline'));
  await advance(6_000);
  isOnline = true;
  reloaded.savers.retry();
  await advance(60_000);
  expect(writes).toEqual(['two, reloaded: typed offline']);
});

test('a draft waits through an outage, and is sent although the open tab shows another day', async () => {
  const [one, two] = [await openTab('one'), await openTab('two')];
  one.savers.open(TUESDAY, null, time.timers.now());
  isOnline = false;
  two.type(MONDAY, log('typed before the crash'));
  two.kill();
  await advance(600_000);
  expect(writes).toEqual([]);
  isOnline = true;
  await advance(30_000);
  expect(writes).toEqual(['one: typed before the crash']);
  expect([storage.length, stored.size]).toEqual([0, 0]);
});

test('a draft that a page finds at its start during an outage is sent after it', async () => {
  const one = await openTab('one');
  isOnline = false;
  one.type(MONDAY, log('typed before the crash'));
  one.kill();
  const two = await openTab('two');
  await two.savers.recover();
  await advance(60_000);
  isOnline = true;
  await advance(30_000);
  expect(writes).toEqual(['two: typed before the crash']);
});

test('text of a killed tab that the browser has cleared is reported by one tab, and waits no longer', async () => {
  const [one, , three] = [await openTab('one'), await openTab('two'), await openTab('three')];
  three.type(MONDAY, log('of the killed tab'));
  await settle();
  three.kill();
  stored.clear();
  await advance(6_000);
  expect(reports).toEqual([`one: ${MONDAY}`]);
  expect(storage.length).toBe(0);
  expect(one.savers.unsavedDays()).toEqual([]);
});

test('a tab that is left does not report lost text when its turn comes', async () => {
  const [one, two] = [await openTab('one'), await openTab('two')];
  two.type(MONDAY, log('of the killed tab'));
  await settle();
  two.kill();
  stored.clear();
  let endTurn = (): void => {};
  const turn = new Promise<void>((resolve) => (endTurn = resolve));
  void createTabs('ada', 'three', () => {}).takeOverInTurn(() => turn);
  await advance(6_000);
  one.stop();
  endTurn();
  await advance(6_000);
  expect(reports).toEqual([]);
});

test('the draft of a killed tab is sent although the database does not answer', async () => {
  const [, two] = [await openTab('one'), await openTab('two')];
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  isDatabaseStuck = true;
  two.type(MONDAY, log('of the killed tab'));
  two.kill();
  await advance(6_000);
  for (let reads = 0; reads < 2; reads += 1) {
    await vi.advanceTimersByTimeAsync(1_500);
    await advance(0);
  }
  expect(writes).toEqual(['one: of the killed tab']);
});

test('a page that is left asks for no draft any more', async () => {
  const [one, two] = [await openTab('one'), await openTab('two')];
  isOnline = false;
  two.type(MONDAY, log('typed before the crash'));
  two.kill();
  await advance(10_000);
  one.stop();
  isOnline = true;
  await advance(600_000);
  expect(writes).toEqual([]);
});
