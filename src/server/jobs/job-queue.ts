/**
 * Runs the jobs through pg-boss: its tables in our own PostgreSQL are what several servers agree by, so that each job
 * runs once among them (docs/decisions/0011). Loaded when the server has long been answering.
 */
import { PgBoss } from 'pg-boss';
import type { QueueOptions, SendOptions } from 'pg-boss';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import type { Job, JobName } from './job.ts';
import { JOBS_SCHEMA, pgBossDatabase } from './pg-boss-adapter.ts';
import { installPgBossSchema } from './pg-boss-schema.ts';

/** What this server asks for is looked at once: this is for what another asked for and could not finish. */
const POLL_SECONDS = 20;
/** The least that pg-boss takes. A job whose server died is taken up again this long and one monitor's round later. */
const HEARTBEAT_SECONDS = 10;
const MONITOR_SECONDS = 30;
/** Nothing here takes as long; what does has come to a halt. */
const EXPIRE_SECONDS = 600;
const RETRIES = 6;
const HOUR_SECONDS = 3_600;

/** How long a stop waits for jobs under way. What is not done by then is given back, for another server or the next start. */
const STOP_LIMIT_MS = 4_000;

export type JobQueue = {
  /** Has a job run as soon as possible, here or on another server; nothing where it waits or runs already. */
  request(name: JobName): Promise<void>;
  /** Jobs under way end at their next row, or are given back. */
  stop(): Promise<void>;
};

type Deps = { database: Database; log: Logger; jobs: readonly Job[]; stopLimitMs?: number };

/** @throws what the database says when it is not there; nothing is left running then. */
export async function startJobQueue({ database, log, jobs, stopLimitMs = STOP_LIMIT_MS }: Deps): Promise<JobQueue> {
  await installPgBossSchema(database);
  const boss = new PgBoss({
    db: pgBossDatabase(database),
    schema: JOBS_SCHEMA,
    migrate: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
    maintenanceIntervalSeconds: HOUR_SECONDS,
    // Its cron knows every rule of every calendar, and the first look at a time zone costs 15 MB.
    schedule: false,
    // For jobs that wait for other jobs, of which there are none.
    flowIntervalSeconds: 24 * HOUR_SECONDS,
    // Needs the owner of the tables, and ours stay small.
    reindex: false,
    monitorVacuum: false,
  });
  // Without a listener each of these would end the process. They carry statements and rows, so only the message is kept.
  boss.on('error', ({ message }) => log.warn({ reason: message }, 'the job queue has trouble'));
  boss.on('warning', ({ message }) => log.warn({ reason: message }, 'the job queue warns'));

  const stopping = new AbortController();
  const workers = new Map<JobName, string>();
  const timers: NodeJS.Timeout[] = [];
  try {
    await boss.start();
    for (const job of jobs) {
      await prepareQueue(boss, job);
      workers.set(job.name, await boss.work(job.name, { pollingIntervalSeconds: POLL_SECONDS }, () => run(job)));
      timers.push(setInterval(() => void repeat(job), Math.min(job.everySeconds, HOUR_SECONDS) * 1000));
    }
  } catch (error) {
    for (const timer of timers) clearInterval(timer);
    await boss.stop({ graceful: false });
    throw error;
  }

  /** pg-boss writes what a job throws into its tables, with every property: not the error itself, which may hold rows. */
  async function run(job: Job): Promise<void> {
    if (!(await succeeds(job))) throw new Error(`${job.name} failed`);
  }

  async function succeeds({ name, run: work }: Job): Promise<boolean> {
    const startedAt = performance.now();
    try {
      const did = await work(stopping.signal);
      const ms = Math.round(performance.now() - startedAt);
      // A sweep that found nothing to do is no news.
      const level = Object.values(did).some((count) => count > 0) ? 'info' : 'debug';
      log[level]({ job: name, ms, ...did }, 'job done');
      return true;
    } catch (error) {
      log.error({ err: error, job: name }, 'job failed');
      return false;
    }
  }

  /** Every server asks, and the queue takes one job for each stretch of time: whoever asks first. */
  async function repeat({ name, everySeconds: singletonSeconds }: Job): Promise<void> {
    await ask(name, { singletonSeconds }).catch((error: unknown) =>
      log.warn({ err: error, job: name }, 'a job could not be asked for'),
    );
  }

  async function ask(name: JobName, options: SendOptions = {}): Promise<void> {
    const worker = workers.get(name);
    if (worker === undefined || stopping.signal.aborted) return;
    await boss.send(name, null, options);
    boss.notifyWorker(worker);
  }

  return {
    request: (name) => ask(name),
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      const finished = Promise.all([...workers.keys()].map((name) => boss.offWork(name, { wait: true })));
      await Promise.race([finished, elapsed(stopLimitMs)]);
      await boss.stop({ graceful: false });
    },
  };
}

/** At most one of a kind waits or runs, on all servers together. What is given here replaces what an older server set. */
async function prepareQueue(boss: PgBoss, { name, everySeconds, retryDelaySeconds }: Job): Promise<void> {
  const options: QueueOptions = {
    expireInSeconds: EXPIRE_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retryLimit: RETRIES,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: HOUR_SECONDS,
    // While a job of this stretch of time is kept, no second one is taken.
    deleteAfterSeconds: Math.max(everySeconds, HOUR_SECONDS),
  };
  await boss.createQueue(name, { ...options, policy: 'exclusive' });
  await boss.updateQueue(name, options);
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
