/** Model test of saving: several devices and the real server, in random schedules with a virtual clock. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMerge } from '#client/sync/merge-loader.ts';
import { installRealms } from './browser/realm.ts';
import { runSchedule } from './run-schedule.ts';
import { schedules, type Schedule } from './schedule.ts';
import { startWorldServer, type WorldServer } from './server/world-server.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20_261_123);
const RUNS = Number(process.env['TEST_RUNS'] ?? (process.env['TEST_LONG'] ? 10_000 : 500));
const LANES = 4;
const MAX_STEPS = 20;

let server: WorldServer;
let restoreGlobals: () => void;
beforeAll(async () => {
  await loadMerge();
  server = await startWorldServer();
  restoreGlobals = installRealms();
});
afterAll(async () => {
  restoreGlobals();
  await server.close();
});

test(
  `every item is on the server exactly once after ${String(RUNS)} schedules (seed ${String(SEED)})`,
  async () => {
    const path = process.env['TEST_PATH'];
    // Runs several schedules at the same time, because each waits for the server most of the time.
    let failingLane: number | null = null;
    const lanes = Array.from({ length: path ? 1 : LANES }, (_, lane) =>
      fc.assert(
        fc.asyncProperty(schedules(MAX_STEPS), async (schedule) => {
          // After the first failure only the failed lane goes on: fast-check shrinks its schedule.
          if (failingLane !== null && failingLane !== lane) return;
          await runSchedule(server, schedule).catch((error: unknown) => {
            failingLane ??= lane;
            if (failingLane === lane) throw error;
          });
        }),
        { seed: SEED + lane, numRuns: Math.ceil(RUNS / LANES), ...(path && { path }), asyncReporter: report },
      ),
    );
    await Promise.all(lanes);
  },
  20_000 + RUNS * 1_000,
);

test('the same schedule takes the same course, also through retries with jitter', async () => {
  const step = { device: 0, tab: 0, a: 1, b: 0, thenMs: 0 };
  const schedule: Schedule = {
    devices: [{ utcOffsetMinutes: 0, latencyMs: 40 }],
    startsAt: '2026-11-20T12:30:00Z',
    plan: 'premium',
    items: 0,
    steps: [
      { ...step, do: 'loseRequest' },
      { ...step, do: 'loseRequest' },
      { ...step, do: 'add', thenMs: 45_000 },
    ],
  };
  const history = await runSchedule(server, schedule);
  expect(history.join('\n')).toMatch(/server: POST/);
  expect(await runSchedule(server, schedule)).toEqual(history);
});

async function report({
  failed,
  errorInstance,
  seed,
  counterexamplePath,
  numRuns,
}: fc.RunDetails<[Schedule]>): Promise<void> {
  if (!failed) return;
  const { message } = errorInstance as Error;
  const replay = `TEST_SEED=${String(seed)} TEST_PATH=${counterexamplePath ?? ''}`;
  throw new Error(`run ${String(numRuns)}; again with ${replay}\n${message}`);
}
