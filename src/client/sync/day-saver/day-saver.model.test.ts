/** Whatever happens in whatever order, no line that anybody wrote is lost, and never do two requests run at once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDaySaverHarness, log } from '../../../../tests/support/day-saver-harness.ts';
import type { ServerMode, DaySaverHarness } from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';

type Step =
  | { do: 'type' | 'elsewhere' | 'leave' | 'reload' | 'flush' | 'retry' | 'keepBoth' | 'offer' | 'removeElsewhere' }
  /** Somebody moves the log to another day on another device. */
  | { do: 'moveElsewhere' }
  | { do: 'takeOut' }
  /** What the coach says is written beside the words. Even if that raised the revision, it shall cost no word. */
  | { do: 'coach' }
  /** `plan`: the plan ends, or is paid again; `hear`: the page reads it. Between the two the page believes the old one. */
  | { do: 'plan' | 'hear' }
  | { do: 'pass'; ms: number }
  | { do: 'serverMode'; serverMode: ServerMode; latencyMs: number; online: boolean };

const simple = (...names: Exclude<Step['do'], 'pass' | 'serverMode'>[]) =>
  fc.constantFrom(...names.map((name): Step => ({ do: name })));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: simple('type') },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 30, 450, 2_050, 12_000, 70_000) }),
  },
  { weight: 3, arbitrary: simple('elsewhere', 'leave', 'reload', 'flush', 'retry', 'keepBoth', 'offer') },
  { weight: 2, arbitrary: simple('plan', 'hear', 'coach') },
  { weight: 1, arbitrary: simple('moveElsewhere') },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('serverMode' as const),
      serverMode: fc.constantFrom<ServerMode>('fine', 'fine', 'down', 'lost', 'signedOut', 'refused'),
      latencyMs: fc.constantFrom(2, 40, 3_000),
      online: fc.boolean(),
    }),
  },
);

const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

async function take(world: DaySaverHarness, made: Step, written: string[]): Promise<void> {
  switch (made.do) {
    case 'type': {
      // The locked view has no editor.
      if (!world.editing) return;
      const line = `here ${written.length}`;
      written.push(line);
      return world.type(log(...itemsOf(world.shown), line));
    }
    case 'elsewhere': {
      const line = `elsewhere ${written.length}`;
      written.push(line);
      return world.elsewhere(log(...itemsOf(world.row?.html ?? ''), line));
    }
    case 'takeOut': {
      if (!world.editing || written.length === 0) return;
      written.pop();
      return world.type(log(...written));
    }
    case 'coach':
      return world.raiseRevision();
    case 'pass':
      return world.pass(made.ms);
    case 'serverMode':
      Object.assign(world, { serverMode: made.serverMode, latencyMs: made.latencyMs, online: made.online });
      return;
    case 'leave':
      if (!world.editing) return;
      world.detach();
      return world.openEditor();
    case 'plan':
      world.locked = !world.locked;
      return;
    case 'hear':
      return hear(world);
    case 'reload':
      // What pagehide does; the requests of the old page go on, as keepalive ones may.
      world.saver.close();
      return world.load();
    case 'flush':
      return void world.saver.flush();
    case 'retry':
      return world.saver.retry();
    case 'keepBoth':
      return world.saver.keepBoth();
    case 'offer':
      // A locked day answers no row, and what reads it tells that from an empty one.
      return world.locked ? hear(world) : world.saver.offer(world.row, world.timers.now());
    case 'moveElsewhere':
      if (world.row && !world.moved) world.moveAway();
      return;
    case 'removeElsewhere':
      return world.elsewhere(null);
  }
}

function hear(world: DaySaverHarness): void {
  if (world.locked && world.editing) world.hearOfLock();
  else if (!world.locked && !world.editing) world.hearOfOpening();
}

/** A healthy server, an open plan, a focused page, and every question answered with "Keep both". */
async function comeToRest(world: DaySaverHarness): Promise<void> {
  Object.assign(world, { serverMode: 'fine', latencyMs: 10, online: true, locked: false });
  hear(world);
  for (let round = 0; round < 6; round += 1) {
    await world.pass(40_000);
    world.saver.retry();
    await world.pass(1_000);
    world.saver.keepBoth();
    await world.pass(1_000);
    // The page is looked at again, so it asks what the server has.
    world.saver.offer(world.row, world.timers.now());
  }
}

test(
  'no line is lost, whatever the order of typing, saving, failing, reloading and writing elsewhere',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async (steps) => {
        const world = createDaySaverHarness();
        const written: string[] = [];
        world.load();
        for (const made of steps) await take(world, made, written);
        await comeToRest(world);
        expect(world.status()).toBe(world.row ? 'saved' : 'empty');
        const stored = [world.row, world.moved].flatMap((row) => itemsOf(row?.html ?? ''));
        expect(new Set(stored)).toEqual(new Set(written));
        expect(itemsOf(world.shown)).toEqual(itemsOf(world.row?.html ?? ''));
        expect(world.storage.length).toBe(0);
      }),
      { numRuns: fuzzBudget(400) },
    );
  },
  fuzzBudget(60_000),
);

test(
  'somebody with one device finds the day as they left it, lines that they took out too, and is asked nothing',
  async () => {
    const alone = fc.oneof(
      { weight: 5, arbitrary: simple('type', 'takeOut') },
      { weight: 3, arbitrary: fc.constantFrom(1, 30, 450, 2_050, 12_000).map((ms): Step => ({ do: 'pass', ms })) },
      { weight: 3, arbitrary: simple('leave', 'reload', 'flush', 'retry', 'offer', 'coach') },
      {
        weight: 2,
        arbitrary: fc.constantFrom<ServerMode>('fine', 'fine', 'down', 'lost').map(
          // Always as quick: a save that a later look overtakes could put back a line after its deletion.
          (serverMode): Step => ({ do: 'serverMode', serverMode, latencyMs: 20, online: true }),
        ),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(alone, { minLength: 3, maxLength: 40 }), async (steps) => {
        const world = createDaySaverHarness();
        const lines: string[] = [];
        world.load();
        for (const made of steps) {
          await take(world, made, lines);
          expect(world.status()).not.toBe('conflict');
          expect(itemsOf(world.shown)).toEqual(lines);
        }
        await world.pass(20);
        await comeToRest(world);
        expect(world.status()).toBe(lines.length === 0 ? 'empty' : 'saved');
        expect(itemsOf(world.shown)).toEqual(lines);
        expect(itemsOf(world.row?.html ?? '')).toEqual(lines);
        expect(world.storage.length).toBe(0);
      }),
      { numRuns: fuzzBudget(400) },
    );
  },
  fuzzBudget(60_000),
);

test(
  'one page never has two requests under way',
  async () => {
    const withoutReload = fc.oneof(
      { weight: 9, arbitrary: step.filter((made) => made.do !== 'reload') },
      simple('removeElsewhere'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(withoutReload, { maxLength: 40 }), async (steps) => {
        const world = createDaySaverHarness();
        world.load();
        for (const made of steps) await take(world, made, []);
        expect(world.maxInFlight).toBeLessThanOrEqual(1);
      }),
      { numRuns: fuzzBudget(150) },
    );
  },
  fuzzBudget(60_000),
);
