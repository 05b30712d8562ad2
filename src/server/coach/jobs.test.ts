/** What an analysis keeps in memory while the model speaks: what it was asked, and none of the logs it was read from. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import type { CoachStore } from './coach-store.ts';
import { feedbackJob } from './feedback.ts';
import type { RunDeps } from './run-analysis.ts';
import { trendJob } from './trend.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

const TODAY = day('2026-11-20');
const CALLER = { userId: 'u', identity: { role: 'authenticated', claimsJson: '{}' } } as const;
const REQUEST = { period: '7-day', from: day('2026-11-14'), to: TODAY } as const;

function depsOf(): { deps: RunDeps; read: WeakRef<object>[] } {
  const read: WeakRef<object>[] = [];
  const log = () => {
    const made = {
      id: 'e',
      date: TODAY,
      text: 'Shipped the importer to all customers',
      content: '<p>Shipped the importer to all customers</p>',
      score: 7,
      updatedAt: '',
    };
    read.push(new WeakRef(made));
    return made;
  };
  const store: Partial<CoachStore> = {
    readDay: async () => ({ readAt: '', entry: log(), earlier: [log()] }),
    readPeriod: async () => [log(), log()],
  };
  const model: RunDeps['model'] = {
    stream: () => {
      throw new Error('nobody is asked');
    },
    describe: () => ({ provider: 'none', model: 'none', replies: 'object' }),
  };
  const limits = { timeoutMs: 1, dailyLimit: 1 };
  const clock = { now: () => new Date(0) };
  return { deps: { store: store as CoachStore, model, limits, log: pino({ enabled: false }), clock }, read };
}

test.each([
  ['a feedback', (deps: RunDeps) => feedbackJob(deps, CALLER, TODAY)],
  ['a trend', (deps: RunDeps) => trendJob(deps, CALLER, REQUEST)],
])('%s lets go of the logs', async (_what, jobOf) => {
  const { deps, read } = depsOf();
  const job = await jobOf(deps);
  // What a WeakRef was made or asked for lives until its turn of the event loop is over.
  await setImmediate();
  collect();
  expect(read).toHaveLength(2);
  expect(read.map((log) => log.deref())).toEqual([undefined, undefined]);
  expect(job).toMatchObject({ userId: 'u' });
});
