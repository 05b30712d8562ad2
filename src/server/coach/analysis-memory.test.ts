/** Tests that a prepared analysis does not retain its logs in memory while the model answers. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { CoachStore } from './coach-store.ts';
import { prepareFeedback, prepareReview } from './prepare-analysis.ts';
import type { RunDeps } from './run-analysis.ts';
import { NO_EVENTS } from '../metrics/events.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

const TODAY = day('2026-11-20');
const CALLER = { userId: 'u', identity: { role: 'authenticated', claimsJson: '{}' } } as const;
const REQUEST = { period: '7-day', from: day('2026-11-14'), to: TODAY } as const;

function createDeps(): { deps: RunDeps; read: WeakRef<object>[] } {
  const read: WeakRef<object>[] = [];
  const log = () => {
    const row = {
      id: 'e',
      date: TODAY,
      text: 'Shipped the importer to all customers',
      content: '<p>Shipped the importer to all customers</p>',
      score: 7,
      updatedAt: '',
    };
    read.push(new WeakRef(row));
    return row;
  };
  const store: Partial<CoachStore> = {
    readDay: async () => ({ readAt: '', entry: log(), earlier: [log()] }),
    readPeriod: async () => ({ logs: [log(), log()], timeOff: [], fingerprint: '' }),
  };
  const model: RunDeps['model'] = {
    stream: () => {
      throw new Error('unexpected call of the model');
    },
    describe: () => ({ provider: 'none', model: 'none', replies: 'object' }),
  };
  const limits = { timeoutMs: 1, dailyLimit: 1 };
  const clock = { now: () => new Date(0) };
  return {
    deps: { store: store as CoachStore, model, limits, log: pino({ enabled: false }), clock, events: NO_EVENTS },
    read,
  };
}

test.each([
  ['prepareFeedback', (deps: RunDeps) => prepareFeedback(deps, CALLER, TODAY)],
  ['prepareReview', (deps: RunDeps) => prepareReview(deps, CALLER, REQUEST)],
])('%s retains no log', async (_name, prepare) => {
  const { deps, read } = createDeps();
  const job = await prepare(deps);
  // A WeakRef's target stays alive until the end of the current turn of the event loop.
  await setImmediate();
  collect();
  expect(read).toHaveLength(2);
  expect(read.map((log) => log.deref())).toEqual([undefined, undefined]);
  expect(job).toMatchObject({ userId: 'u' });
});
