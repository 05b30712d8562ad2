/** Whatever happens in whatever order in two pages, no line is lost by a move; and on two devices none stands at two days. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { day } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { log, MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { createDaySavers } from '../day-savers.ts';
import type { DaySavers } from '../day-savers.ts';
import { moveLog } from './move-log.ts';
import type { Move, MoveOutcome, SendMove } from './move-log.ts';
import type { EntryTransport, Failure, StoredLog } from '../save-outcome.ts';

const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'].map(day);
const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

/** `lost`: the request is carried out and the answer does not arrive. */
type Fate = 'fine' | 'lost' | 'unheard';

type Step =
  | { do: 'write' | 'look' | 'flush'; device: number; day: number }
  | { do: 'move'; device: number; from: number; to: number }
  | { do: 'moveAgain' | 'reload'; device: number }
  /** One of the requests under way reaches the server, or its answer the page. */
  | { do: 'network'; which: number; fate: Fate }
  | { do: 'settle' };

const anyDevice = fc.nat(1);
const dayIndex = fc.nat(DAYS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('write', 'look', 'flush'), device: anyDevice, day: dayIndex }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('move' as const), device: anyDevice, from: dayIndex, to: dayIndex }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('moveAgain', 'reload'), device: anyDevice }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('network' as const),
      which: fc.nat(5),
      fate: fc.constantFrom<Fate>('fine', 'fine', 'fine', 'lost', 'unheard'),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'settle' }) },
);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function createWorld(browsers: 1 | 2) {
  const rows = new Map<Day, StoredLog>();
  const storages = Array.from({ length: browsers }, () => new MemoryStorage());
  let now = 1_000;
  let ids = 0;
  let writers = 0;
  let pending: ((fate: Fate) => void)[] = [];

  /** A request waits for the network twice: on its way there, and on its way back. A page that is gone hears no answer. */
  async function request<T>(
    page: { gone: boolean },
    carryOut: () => T,
    mayBeLost = true,
  ): Promise<T | { kind: 'unreachable' }> {
    const there = await new Promise<Fate>((resolve) => pending.push(resolve));
    const nobody = () => new Promise<never>(() => {});
    if (there === 'unheard' || (page.gone && !mayBeLost)) return page.gone ? nobody() : { kind: 'unreachable' };
    const outcome = carryOut();
    if (!mayBeLost) return outcome;
    const back = await new Promise<Fate>((resolve) => pending.push(resolve));
    if (page.gone) return nobody();
    return there === 'lost' || back !== 'fine' ? { kind: 'unreachable' } : outcome;
  }
  const isAt = (date: Day, { id, revision }: Version): boolean =>
    rows.get(date)?.id === id && rows.get(date)?.revision === revision;
  const put = (date: Day, id: string, revision: number, html: string) => {
    const row = { id, html, revision, savedAt: now };
    rows.set(date, row);
    return { ...row, kind: 'stored' as const };
  };
  const transportOf = (page: { gone: boolean }): EntryTransport => ({
    read: (date, id) =>
      request(page, () => {
        const elsewhere = [...rows].find(([other, row]) => other !== date && row.id === id);
        const moved = id !== undefined && elsewhere ? { date: elsewhere[0], html: elsewhere[1].html } : undefined;
        return { kind: 'read' as const, stored: rows.get(date) ?? null, moved };
      }),
    // With its answer the page would lose the row's id, and could not find the row at the day that it is moved to from
    // another device: its lines would stand at both days.
    insert: (date, html) =>
      request(page, () => (rows.has(date) ? { kind: 'changed' } : put(date, `row ${(ids += 1)}`, 1, html)), false),
    update: (date, html, version) =>
      request(page, () =>
        isAt(date, version) ? put(date, version.id, version.revision + 1, html) : { kind: 'changed' },
      ),
    remove: () => Promise.resolve<Failure>({ kind: 'unreachable' }),
  });
  /** As the request of `createSendMove` and the policies of the database do it. */
  const sendOf =
    (page: { gone: boolean }): SendMove =>
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
    const page = { gone: false };
    const savers = createDaySavers({
      transport: transportOf(page),
      timers: { now: () => (now += 1), after: () => () => {} },
      drafts: createDayDrafts(storages[device % browsers]!, 'ada', `page ${(writers += 1)}`),
      isOnline: () => true,
      onStored: () => {},
    });
    return { page, savers, send: sendOf(page) };
  }

  return {
    rows,
    storages,
    openPage,
    tick: () => (now += 1),
    async network(which: number, fate: Fate) {
      await turn();
      const [resolve] = pending.length === 0 ? [] : pending.splice(which % pending.length, 1);
      resolve?.(fate);
      await turn();
    },
    async settle() {
      await turn();
      while (pending.length > 0) {
        const waiting = pending;
        pending = [];
        for (const resolve of waiting) resolve('fine');
        await turn();
      }
    },
  };
}

test.each([
  { name: 'on two devices no line is lost by a move, and none stands at two days', browsers: 2 },
  // The second tab takes over what the first has not sent yet, so both may send it.
  { name: 'in two tabs of a browser no line is lost by a move', browsers: 1 },
] as const)(
  '$name',
  async ({ browsers }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
        const world = createWorld(browsers);
        const pages = [world.openPage(0), world.openPage(1)];
        const unanswered: (null | { move: Move; version: Version })[] = [null, null];
        const written: string[] = [];
        const look = (savers: DaySavers, date: Day) => savers.open(date, world.rows.get(date) ?? null, world.tick());
        const move = async (at: number, wanted: Move, version: Version | null = null): Promise<void> => {
          const { savers, send } = pages[at]!;
          const outcome = await moveLog(savers, send, wanted, version);
          if (outcome.kind === 'unreachable') unanswered[at] = { move: wanted, version: outcome.version };
        };
        for (const made of steps) {
          switch (made.do) {
            case 'write': {
              const saver = look(pages[made.device]!.savers, DAYS[made.day]!);
              const line = `line ${written.length}`;
              written.push(line);
              saver.write(log(...itemsOf(saver.text()), line), 0);
              saver.keepDraft();
              break;
            }
            case 'look':
              look(pages[made.device]!.savers, DAYS[made.day]!);
              break;
            case 'flush':
              void pages[made.device]!.savers.opened(DAYS[made.day]!)?.flush();
              break;
            case 'move':
              if (made.from !== made.to) void move(made.device, { from: DAYS[made.from]!, to: DAYS[made.to]! });
              break;
            case 'moveAgain': {
              const again = unanswered[made.device];
              unanswered[made.device] = null;
              if (again) void move(made.device, again.move, again.version);
              break;
            }
            case 'reload':
              pages[made.device]!.savers.close();
              pages[made.device]!.page.gone = true;
              pages[made.device] = world.openPage(made.device);
              unanswered[made.device] = null;
              break;
            case 'network':
              await world.network(made.which, made.fate);
              break;
            case 'settle':
              await world.settle();
          }
        }
        await comeToRest(
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
  },
  fuzzBudget(60_000),
);

/** Both pages are looked at in turn, and asked about a conflict the user keeps everything. */
async function comeToRest(world: ReturnType<typeof createWorld>, pages: readonly DaySavers[]): Promise<void> {
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
        if (conflict?.moved) void savers.addToMoved(date);
        else if (conflict) saver.keepBoth();
        await world.settle();
      }
    }
  }
}
