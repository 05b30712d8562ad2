/**
 * Property test of one device whose writes get no answer and arrive late: after reads, after later writes, after a
 * reload.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDaySaverHarness,
  log,
  type DaySaverHarness,
  type ServerMode,
} from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';

const ITEMS = ['a', 'b', 'c', 'd'];
type Step =
  /** Adds the item, or deletes it if the log has it. */
  | { do: 'toggle'; item: string }
  | { do: 'clear' | 'undo' | 'reload' | 'flush' | 'retry' }
  | { do: 'advance'; ms: number }
  /** The next write gets no answer and arrives after `ms`. */
  | { do: 'delayWrite'; ms: number }
  | { do: 'serverMode'; serverMode: ServerMode; latencyMs: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ITEMS).map((item): Step => ({ do: 'toggle', item })) },
  {
    weight: 4,
    arbitrary: fc.constantFrom('clear', 'undo', 'undo', 'reload', 'flush', 'retry').map((name): Step => ({ do: name })),
  },
  { weight: 4, arbitrary: fc.constantFrom(1, 450, 2_050, 12_000).map((ms): Step => ({ do: 'advance', ms })) },
  { weight: 3, arbitrary: fc.constantFrom(5, 1_000, 20_000).map((ms): Step => ({ do: 'delayWrite', ms })) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('serverMode' as const),
      serverMode: fc.constantFrom<ServerMode>('fine', 'fine', 'down', 'lost'),
      latencyMs: fc.constantFrom(2, 40, 3_000),
    }),
  },
);

/** An insert and the removal of its row both arrive late, when the user has written the same words again. */
const LATE_INSERT_AND_REMOVAL: Step[] = [
  { do: 'delayWrite', ms: 20_000 },
  { do: 'toggle', item: 'b' },
  { do: 'advance', ms: 12_000 },
  { do: 'toggle', item: 'b' },
  { do: 'delayWrite', ms: 20_000 },
  { do: 'advance', ms: 12_000 },
  { do: 'serverMode', serverMode: 'fine', latencyMs: 2 },
  { do: 'toggle', item: 'b' },
  { do: 'advance', ms: 1 },
];

const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

/** Returns a function that delays the next write. */
function delayWrites(world: DaySaverHarness): (ms: number) => void {
  const { insert, update, remove } = world.transport;
  let delayMs: number | null = null;
  const late =
    <Args extends unknown[], Outcome>(send: (...args: Args) => Promise<Outcome>) =>
    async (...args: Args): Promise<Outcome | { kind: 'unreachable' }> => {
      if (delayMs === null) return send(...args);
      world.timers.after(delayMs, () => {
        const { serverMode, latencyMs } = world;
        Object.assign(world, { serverMode: 'fine', latencyMs: 0 });
        void send(...args);
        world.timers.after(0, () => void (world.serverMode = serverMode));
        world.latencyMs = latencyMs;
      });
      delayMs = null;
      return { kind: 'unreachable' };
    };
  Object.assign(world.transport, { insert: late(insert), update: late(update), remove: late(remove) });
  return (ms) => void (delayMs = ms);
}

test('no item of the text that the user typed last is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const world = createDaySaverHarness();
      const delayNextWrite = delayWrites(world);
      let typed: string[] = [];
      let undo: string[][] = [];
      const type = (items: string[]): void => {
        typed = items;
        world.type(log(...items));
      };
      const edit = (items: string[]): void => {
        undo.push(itemsOf(world.editorText));
        type(items);
      };
      world.loadPage();
      for (const taken of steps) {
        const items = itemsOf(world.editorText);
        if (taken.do === 'toggle') {
          edit(items.includes(taken.item) ? items.filter((item) => item !== taken.item) : [...items, taken.item]);
        } else if (taken.do === 'clear') edit([]);
        else if (taken.do === 'undo') type(undo.pop() ?? items);
        else if (taken.do === 'advance') await world.advance(taken.ms);
        else if (taken.do === 'delayWrite') delayNextWrite(taken.ms);
        else if (taken.do === 'flush') void world.saver.flush();
        else if (taken.do === 'retry') world.saver.retry();
        else if (taken.do === 'serverMode') Object.assign(world, taken);
        else {
          world.saver.close();
          undo = [];
          world.loadPage();
        }
      }
      Object.assign(world, { serverMode: 'fine', latencyMs: 10 });
      for (let round = 0; round < 4; round += 1) {
        await world.advance(40_000);
        world.saver.retry();
        world.saver.keepBoth();
        await world.advance(1_000);
        world.saver.takeRow(world.row, world.timers.now());
      }
      expect(itemsOf(world.row?.html ?? '')).toEqual(expect.arrayContaining(typed));
      expect(world.storage.length).toBe(0);
    }),
    { numRuns: fuzzBudget(3_000), examples: [[LATE_INSERT_AND_REMOVAL]] },
  );
});
