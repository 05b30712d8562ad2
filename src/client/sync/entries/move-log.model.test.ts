/** Property tests of moves in two pages: no step order loses a line, and on two devices no line is on two days. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { day, type Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { createTestSavers, log, MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import type { DaySavers } from '../day-savers.ts';
import { addToMovedLog, moveLog, type Move, type MoveOutcome, type SendMove } from './move-log.ts';
import type { EntryTransport, Failure, StoredLog, ReadOutcome } from '../save-requests.ts';

const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'].map(day);
const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

/** `lost`: the server carries out the request and the response is lost. `undelivered`: the request does not arrive. */
type Delivery = 'fine' | 'lost' | 'undelivered';

type Step =
  | { do: 'write' | 'open' | 'flush'; device: number; day: number }
  | { do: 'move'; device: number; from: number; to: number }
  | { do: 'retryMove' | 'reload'; device: number }
  /** One request in flight reaches the server, or its response reaches the page. */
  | { do: 'network'; which: number; delivery: Delivery }
  | { do: 'settle' };

const anyDevice = fc.nat(1);
const dayIndex = fc.nat(DAYS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('write', 'open', 'flush'), device: anyDevice, day: dayIndex }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('move' as const), device: anyDevice, from: dayIndex, to: dayIndex }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('retryMove', 'reload'), device: anyDevice }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('network' as const),
      which: fc.nat(5),
      delivery: fc.constantFrom<Delivery>('fine', 'fine', 'fine', 'lost', 'undelivered'),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'settle' }) },
);

const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve));

function createWorld(browsers: 1 | 2) {
  const rows = new Map<Day, StoredLog>();
  const storages = Array.from({ length: browsers }, () => new MemoryStorage());
  let now = 1_000;
  let writers = 0;
  let pending: ((delivery: Delivery) => void)[] = [];

  /** A request waits for the network in each direction. A closed page receives no response. */
  async function request<T>(page: { isClosed: boolean }, carryOut: () => T): Promise<T | { kind: 'unreachable' }> {
    const there = await new Promise<Delivery>((resolve) => pending.push(resolve));
    const neverResolve = () => new Promise<never>(() => {});
    if (there === 'undelivered') return page.isClosed ? neverResolve() : { kind: 'unreachable' };
    const outcome = carryOut();
    const back = await new Promise<Delivery>((resolve) => pending.push(resolve));
    if (page.isClosed) return neverResolve();
    return there === 'lost' || back !== 'fine' ? { kind: 'unreachable' } : outcome;
  }
  const isAt = (date: Day, { id, revision }: Version): boolean =>
    rows.get(date)?.id === id && rows.get(date)?.revision === revision;
  const storeLog = (date: Day, id: string, revision: number, html: string) => {
    const row = { id, html, revision, savedAt: now };
    rows.set(date, row);
    return { ...row, kind: 'stored' as const };
  };
  const transportOf = (page: { isClosed: boolean }): EntryTransport => ({
    read: (date, id) =>
      request(page, () => {
        const elsewhere = [...rows].find(([other, row]) => other !== date && row.id === id);
        const moved = id !== undefined && elsewhere ? { date: elsewhere[0], html: elsewhere[1].html } : undefined;
        return { kind: 'read' as const, stored: rows.get(date) ?? null, moved };
      }),
    insert: (date, html, id) =>
      request(page, () => {
        const isTaken = rows.has(date) || [...rows.values()].some((row) => row.id === id);
        return isTaken ? { kind: 'changed' } : storeLog(date, id, 1, html);
      }),
    update: (date, html, version) =>
      request(page, () =>
        isAt(date, version) ? storeLog(date, version.id, version.revision + 1, html) : { kind: 'changed' },
      ),
    remove: () => Promise.resolve<Failure>({ kind: 'unreachable' }),
  });
  /** Behaves like the request of `createSendMove` under the database's policies. */
  const sendOf =
    (page: { isClosed: boolean }): SendMove =>
    ({ from, to }, version) =>
      request(page, (): MoveOutcome => {
        const { id, revision } = version;
        const row = rows.get(from);
        if (row && isAt(from, version)) {
          if (rows.has(to)) return { kind: 'taken' };
          rows.delete(from);
          rows.set(to, { ...row, revision: revision + 1 });
        }
        const there = rows.get(to);
        return there?.id === id ? { kind: 'moved', log: there } : { kind: 'changed' };
      }).then((outcome) => (outcome.kind === 'unreachable' ? { ...outcome, version } : outcome));

  function openPage(device: number) {
    const page = { isClosed: false };
    const savers = createTestSavers({
      transport: transportOf(page),
      timers: { now: () => (now += 1), after: () => () => {} },
      drafts: createDayDrafts(storages[device % browsers]!, 'ada', `page ${(writers += 1)}`),
    });
    return { page, savers, send: sendOf(page) };
  }

  return {
    rows,
    storages,
    openPage,
    tick: () => (now += 1),
    async network(which: number, delivery: Delivery) {
      await flushPromises();
      const [resolve] = pending.length === 0 ? [] : pending.splice(which % pending.length, 1);
      resolve?.(delivery);
      await flushPromises();
    },
    async settle() {
      await flushPromises();
      while (pending.length > 0) {
        const waiting = pending;
        pending = [];
        for (const resolve of waiting) resolve('fine');
        await flushPromises();
      }
    },
  };
}

test.each([
  { name: 'a move on two devices loses no line and puts none on two days', browsers: 2 },
  // The second tab claims unsent drafts of the first tab, so both tabs may send the same lines.
  { name: 'a move in two tabs of a browser loses no line', browsers: 1 },
] as const)('$name', async ({ browsers }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
      const world = createWorld(browsers);
      const pages = [world.openPage(0), world.openPage(1)];
      const unanswered: (null | { move: Move; version: Version })[] = [null, null];
      const written: string[] = [];
      const openDay = (savers: DaySavers, date: Day) => savers.open(date, world.rows.get(date) ?? null, world.tick());
      const move = async (at: number, wanted: Move, version: Version | null = null): Promise<void> => {
        const { savers, send } = pages[at]!;
        const outcome = await moveLog(savers, send, wanted, version);
        if (outcome.kind === 'unreachable') unanswered[at] = { move: wanted, version: outcome.version };
      };
      for (const taken of steps) {
        switch (taken.do) {
          case 'write': {
            const saver = openDay(pages[taken.device]!.savers, DAYS[taken.day]!);
            const line = `line ${written.length}`;
            written.push(line);
            saver.rewrite(() => log(...itemsOf(saver.text()), line), 0);
            saver.storeDraft();
            break;
          }
          case 'open':
            openDay(pages[taken.device]!.savers, DAYS[taken.day]!);
            break;
          case 'flush':
            void pages[taken.device]!.savers.get(DAYS[taken.day]!)?.flush();
            break;
          case 'move':
            if (taken.from !== taken.to) void move(taken.device, { from: DAYS[taken.from]!, to: DAYS[taken.to]! });
            break;
          case 'retryMove': {
            const retried = unanswered[taken.device];
            unanswered[taken.device] = null;
            if (retried) void move(taken.device, retried.move, retried.version);
            break;
          }
          case 'reload':
            pages[taken.device]!.savers.close();
            pages[taken.device]!.page.isClosed = true;
            pages[taken.device] = world.openPage(taken.device);
            unanswered[taken.device] = null;
            break;
          case 'network':
            await world.network(taken.which, taken.delivery);
            break;
          case 'settle':
            await world.settle();
        }
      }
      await saveEverything(
        world,
        pages.map(({ savers }) => savers),
      );
      const stored = [...world.rows.values()].flatMap(({ html }) => itemsOf(html));
      expect([...new Set(stored)].sort()).toEqual(written.toSorted());
      if (browsers === 2) expect(stored).toHaveLength(written.length);
      for (const { length } of world.storages) expect(length).toBe(0);
    }),
    { numRuns: fuzzBudget(200) },
  );
});

/** Refreshes both pages in turn; the user keeps both versions of each conflict. */
async function saveEverything(world: ReturnType<typeof createWorld>, pages: readonly DaySavers[]): Promise<void> {
  const read = async (date: Day): Promise<ReadOutcome> => ({ kind: 'read', stored: world.rows.get(date) ?? null });
  for (let round = 0; round < 6; round += 1) {
    for (const savers of pages) {
      void savers.recover();
      await world.settle();
      for (const date of DAYS) {
        const saver = savers.open(date, world.rows.get(date) ?? null, world.tick());
        await world.settle();
        saver.retry();
        await world.settle();
        const { conflict } = saver.view();
        if (conflict?.moved) void addToMovedLog(savers, { read }, saver);
        else if (conflict) saver.keepBoth();
        await world.settle();
      }
    }
  }
}
