/** Property tests of the day saver: random steps lose no line, and at most one request is in flight. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDaySaverHarness,
  log,
  type ServerMode,
  type DaySaverHarness,
} from '../../../../tests/support/day-saver-harness.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';

type Step =
  | {
      do: 'type' | 'writeElsewhere' | 'leave' | 'reload' | 'flush' | 'retry' | 'keepBoth' | 'offer' | 'removeElsewhere';
    }
  /** Another device moves the log to another day. */
  | { do: 'moveElsewhere' }
  | { do: 'deleteLine' }
  /** Feedback is stored in the row. Even if that raises the revision, no text may be lost. */
  | { do: 'coach' }
  /** `plan`: the plan ends or starts again; `readPlan`: the page reads it. Until then the page's plan is stale. */
  | { do: 'plan' | 'readPlan' }
  | { do: 'advance'; ms: number }
  | { do: 'serverMode'; serverMode: ServerMode; latencyMs: number; isOnline: boolean };

const simple = (...names: Exclude<Step['do'], 'advance' | 'serverMode'>[]) =>
  fc.constantFrom(...names.map((name): Step => ({ do: name })));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: simple('type') },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 30, 450, 2_050, 12_000, 70_000),
    }),
  },
  { weight: 3, arbitrary: simple('writeElsewhere', 'leave', 'reload', 'flush', 'retry', 'keepBoth', 'offer') },
  { weight: 2, arbitrary: simple('plan', 'readPlan', 'coach') },
  { weight: 1, arbitrary: simple('moveElsewhere') },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('serverMode' as const),
      serverMode: fc.constantFrom<ServerMode>('fine', 'fine', 'down', 'lost', 'signedOut', 'refused'),
      latencyMs: fc.constantFrom(2, 40, 3_000),
      isOnline: fc.boolean(),
    }),
  },
);

const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

async function takeStep(world: DaySaverHarness, taken: Step, written: string[]): Promise<void> {
  switch (taken.do) {
    case 'type': {
      // The locked view has no editor.
      if (!world.isEditing) return;
      const line = `here ${written.length}`;
      written.push(line);
      return world.type(log(...itemsOf(world.editorText), line));
    }
    case 'writeElsewhere': {
      const line = `elsewhere ${written.length}`;
      written.push(line);
      return world.writeElsewhere(log(...itemsOf(world.row?.html ?? ''), line));
    }
    case 'deleteLine': {
      if (!world.isEditing || written.length === 0) return;
      written.pop();
      return world.type(log(...written));
    }
    case 'coach':
      return world.raiseRevision();
    case 'advance':
      return world.advance(taken.ms);
    case 'serverMode':
      Object.assign(world, { serverMode: taken.serverMode, latencyMs: taken.latencyMs, isOnline: taken.isOnline });
      return;
    case 'leave':
      if (!world.isEditing) return;
      world.detach();
      return world.openEditor();
    case 'plan':
      world.isLocked = !world.isLocked;
      return;
    case 'readPlan':
      return readPlan(world);
    case 'reload':
      // Stores a last draft, as `pagehide` does. The old page's requests continue, as keepalive requests do.
      world.saver.close();
      return world.loadPage();
    case 'flush':
      return void world.saver.flush();
    case 'retry':
      return world.saver.retry();
    case 'keepBoth':
      return world.saver.keepBoth();
    case 'offer':
      // The read of a locked day tells the page that the plan locks the day, so the page does not take it for empty.
      return world.isLocked ? readPlan(world) : world.saver.takeRow(world.row, world.timers.now());
    case 'moveElsewhere':
      if (world.row && !world.moved) world.moveElsewhere();
      return;
    case 'removeElsewhere':
      return world.writeElsewhere(null);
  }
}

function readPlan(world: DaySaverHarness): void {
  if (world.isLocked && world.isEditing) world.showLockedView();
  else if (!world.isLocked && !world.isEditing) world.showUnlockedDay();
}

/** Simulates a healthy server, an unlocked plan, a focused page and a user who keeps both versions of each conflict. */
async function saveEverything(world: DaySaverHarness): Promise<void> {
  Object.assign(world, { serverMode: 'fine', latencyMs: 10, isOnline: true, isLocked: false });
  readPlan(world);
  for (let round = 0; round < 6; round += 1) {
    await world.advance(40_000);
    world.saver.retry();
    await world.advance(1_000);
    world.saver.keepBoth();
    await world.advance(1_000);
    // A focused page refetches the row.
    world.saver.takeRow(world.row, world.timers.now());
  }
}

test('no order of typing, saving, failing, reloading and writing elsewhere loses a line', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async (steps) => {
      const world = createDaySaverHarness();
      const written: string[] = [];
      world.loadPage();
      for (const taken of steps) await takeStep(world, taken, written);
      await saveEverything(world);
      expect(world.status()).toBe(world.row ? 'saved' : 'empty');
      const stored = [world.row, world.moved].flatMap((row) => itemsOf(row?.html ?? ''));
      expect(new Set(stored)).toEqual(new Set(written));
      expect(itemsOf(world.editorText)).toEqual(itemsOf(world.row?.html ?? ''));
      expect(world.storage.length).toBe(0);
    }),
    { numRuns: fuzzBudget(400) },
  );
});

test('a user with one device finds the day as they left it, without a conflict or a deleted line', async () => {
  const oneDeviceStep = fc.oneof(
    { weight: 5, arbitrary: simple('type', 'deleteLine') },
    { weight: 3, arbitrary: fc.constantFrom(1, 30, 450, 2_050, 12_000).map((ms): Step => ({ do: 'advance', ms })) },
    { weight: 3, arbitrary: simple('leave', 'reload', 'flush', 'retry', 'offer', 'coach') },
    {
      weight: 2,
      arbitrary: fc.constantFrom<ServerMode>('fine', 'fine', 'down', 'lost').map(
        // Constant latency keeps requests in order. If a read overtook an earlier save, it could restore a deleted
        // line.
        (serverMode): Step => ({ do: 'serverMode', serverMode, latencyMs: 20, isOnline: true }),
      ),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(oneDeviceStep, { minLength: 3, maxLength: 40 }), async (steps) => {
      const world = createDaySaverHarness();
      const lines: string[] = [];
      world.loadPage();
      for (const taken of steps) {
        await takeStep(world, taken, lines);
        expect(world.status()).not.toBe('conflict');
        expect(itemsOf(world.editorText)).toEqual(lines);
      }
      await world.advance(20);
      await saveEverything(world);
      expect(world.status()).toBe(lines.length === 0 ? 'empty' : 'saved');
      expect(itemsOf(world.editorText)).toEqual(lines);
      expect(itemsOf(world.row?.html ?? '')).toEqual(lines);
      expect(world.storage.length).toBe(0);
    }),
    { numRuns: fuzzBudget(400) },
  );
});

test('a page has at most one request in flight', async () => {
  const withoutReload = fc.oneof(
    { weight: 9, arbitrary: step.filter((taken) => taken.do !== 'reload') },
    simple('removeElsewhere'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(withoutReload, { maxLength: 40 }), async (steps) => {
      const world = createDaySaverHarness();
      world.loadPage();
      for (const taken of steps) await takeStep(world, taken, []);
      expect(world.maxInFlight).toBeLessThanOrEqual(1);
    }),
    { numRuns: fuzzBudget(150) },
  );
});
