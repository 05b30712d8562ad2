import { beforeEach, expect, test } from 'vitest';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { openDatabase } from '../database/connect.ts';
import type { AsService, Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { Secret } from '../config/settings-reader.ts';
import type { Job } from './job.ts';
import { startJobQueue, type JobQueue } from './job-queue.ts';
import { createJobs, type Jobs } from './jobs.ts';

const db = setUpTestDatabase();
let lines: string[];
let toStop: { stop(): Promise<void> }[];
beforeEach(() => {
  lines = [];
  toStop = [];
  return async () => {
    await Promise.all(toStop.map((each) => each.stop()));
    await db.admin.query('drop schema if exists pgboss cascade');
  };
});

const log = createLog('debug', { write: (line: string) => void lines.push(line) });
const countLines = (text: string): number => lines.filter((line) => line.includes(text)).length;
const jobThat = (run: Job['run'], everySeconds = 86_400): Job => ({
  ...{ name: 'send-receipts', retryDelaySeconds: 1 },
  everySeconds,
  run,
});

function startJobs(run: Job['run'], database: Database = db.database): Jobs {
  const jobs = createJobs({ database, log, jobs: [jobThat(run)], firstRetryMs: 1 });
  toStop.push(jobs);
  jobs.start();
  return jobs;
}

async function startQueue(run: Job['run'], database = db.database, stopLimitMs = 5_000): Promise<JobQueue> {
  const queue = await startJobQueue({ database, log, jobs: [jobThat(run)], stopLimitMs });
  toStop.push(queue);
  return queue;
}

async function stored(): Promise<{ state: string; output: unknown }[]> {
  const { rows } = await db.admin.query(
    "select state::text, output from pgboss.job where name = 'send-receipts' order by created_on",
  );
  return rows;
}
const states = async (): Promise<string[]> => (await stored()).map(({ state }) => state);

test('a job runs at server start and on request', async () => {
  let runs = 0;
  const jobs = startJobs(async () => ({ mailed: (runs += 1) }));
  await expect.poll(() => countLines('"mailed":1')).toBe(1);
  await expect.poll(states).toEqual(['completed']);
  jobs.request('send-receipts');
  await expect.poll(() => countLines('"mailed":2')).toBe(1);
});

test('requests that come while one is under way are sent as one', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let isGated = false;
  let inserts = 0;
  const asService: Database['asService'] = (reason) => {
    const service = db.database.asService(reason);
    const statement: AsService['statement'] = async (text, values) => {
      if (isGated && /insert into pgboss\.job/i.test(text)) {
        inserts += 1;
        await gate;
      }
      return service.statement(text, values);
    };
    return { ...service, statement };
  };
  let runs = 0;
  const jobs = startJobs(async () => ({ mailed: (runs += 1) }), { ...db.database, asService });
  await expect.poll(states).toEqual(['completed']);
  isGated = true;
  for (let count = 0; count < 1_000; count += 1) jobs.request('send-receipts');
  await expect.poll(() => inserts).toBe(1);
  open();
  await expect.poll(() => runs).toBe(2);
  expect(inserts).toBeLessThanOrEqual(2);
});

test('two servers on one database run a job once for repeated requests', async () => {
  const other = await openDatabase({ config: { databaseUrl: new Secret(db.url), dataDir: '' }, log });
  const { promise: gate, resolve: open } = Promise.withResolvers<Record<string, number>>();
  let runs = 0;
  const run = (): Promise<Record<string, number>> => {
    runs += 1;
    return gate;
  };
  const queues = await Promise.all([startQueue(run), startQueue(run, other)]);
  await Promise.all(Array.from({ length: 20 }, (_, index) => queues[index % 2]!.request('send-receipts')));
  await expect.poll(() => runs).toBe(1);
  await Promise.all(queues.map((queue) => queue.request('send-receipts')));
  expect(await states()).toEqual(['active']);
  open({});
  await expect.poll(states).toEqual(['completed']);
  expect(runs).toBe(1);
  await Promise.all(queues.map((queue) => queue.stop()));
  await other.close();
});

test('a scheduled job runs once per interval across servers', async () => {
  const runs: string[] = [];
  const every = (name: string): Job => jobThat(async () => ({ mailed: runs.push(name) }), 1);
  for (const name of ['one', 'other']) {
    toStop.push(await startJobQueue({ database: db.database, log, jobs: [every(name)] }));
  }
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(3);
  const { rows } = await db.admin.query(
    "select singleton_on, count(*) from pgboss.job where name = 'send-receipts' group by 1 having count(*) > 1",
  );
  expect(rows).toEqual([]);
});

test('a failed job is retried, and neither log nor tables contain row data', async () => {
  let runs = 0;
  const queue = await startQueue(() => {
    runs += 1;
    const error = Object.assign(new Error('no such row'), { detail: 'ada@example.com', hint: 'dear diary' });
    return runs === 1 ? Promise.reject(error) : Promise.resolve({});
  });
  await queue.request('send-receipts');
  await expect.poll(() => countLines('job failed')).toBe(1);
  await expect.poll(states).toEqual(['retry']);
  expect(lines.join('')).toContain('no such row');
  expect(lines.join('') + JSON.stringify(await stored())).not.toMatch(/ada@|diary/);
  // A request does not bypass the retry delay.
  await expect.poll(() => queue.request('send-receipts').then(() => runs)).toBe(2);
});

test('a stop waits for the current row and starts no other', async () => {
  let done = 0;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const queue = await startQueue(async (signal) => {
    begin();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await new Promise(setImmediate);
    return { mailed: (done += 1) };
  });
  await queue.request('send-receipts');
  await begun;
  await queue.stop();
  expect(done).toBe(1);
  expect(await states()).toEqual(['completed']);
});

test('a job that outlasts the stop limit is released and run by the next server', async () => {
  const queue = await startQueue(() => new Promise(() => {}), db.database, 1);
  await queue.request('send-receipts');
  await expect.poll(states).toEqual(['active']);
  await queue.stop();
  expect(await states()).toEqual(['retry']);
  let runs = 0;
  const next = await startQueue(async () => ({ mailed: (runs += 1) }));
  await expect.poll(() => next.request('send-receipts').then(() => runs)).toBe(1);
});

test('retries the start while the database is unavailable, and ignores requests meanwhile', async () => {
  let refusals = 3;
  const unavailableAtFirst: Database = {
    ...db.database,
    asOwner: (reason, work) =>
      (refusals -= 1) < 0
        ? db.database.asOwner(reason, work)
        : Promise.reject(new Error('the database is starting up')),
  };
  let runs = 0;
  const jobs = startJobs(async () => ({ mailed: (runs += 1) }), unavailableAtFirst);
  jobs.request('send-receipts');
  await expect.poll(() => runs).toBe(1);
  expect(countLines('the jobs cannot start yet')).toBe(3);
});

test('a stop cancels a pending start', async () => {
  const unavailable: Database = { ...db.database, asOwner: () => Promise.reject(new Error('gone')) };
  const jobs = startJobs(async () => ({}), unavailable);
  await expect.poll(() => countLines('the jobs cannot start yet')).toBeGreaterThan(0);
  await jobs.stop();
  expect(countLines('jobs started')).toBe(0);
});
