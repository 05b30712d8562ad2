/**
 * Runs the jobs with pg-boss: its tables in our PostgreSQL coordinate several servers, so a due job runs on one of them
 * (docs/decisions/0011).
 */
import { PgBoss, type QueueOptions, type SendOptions, type Db } from 'pg-boss';
import type { Database, Result } from '../database/database.ts';
import { JOBS_SCHEMA } from '../database/roles.ts';
import type { Job, JobName } from './job.ts';
import type { Logger } from '../log.ts';
import { NO_EVENTS, type EventCounters } from '../metrics/events.ts';

/** A request on this server notifies the worker at once; polling finds retries and unfinished jobs of other servers. */
const POLL_SECONDS = 20;
/** The minimum of pg-boss. The job of a crashed server is detected after this and at most one monitor interval. */
const HEARTBEAT_SECONDS = 10;
const MONITOR_SECONDS = 30;
/** pg-boss fails a job that takes longer, because it probably hangs. */
const EXPIRE_SECONDS = 600;
const MAX_RETRIES = 6;
const HOUR_SECONDS = 3_600;

/** How long a stop waits for running jobs. Unfinished jobs are released for another server or the next start. */
const STOP_LIMIT_MS = 4_000;
/** How long a stop waits for the release. A job that could not be released is found by its missing heartbeat. */
const RELEASE_LIMIT_MS = 2_000;

export type JobQueue = {
  /** Requests a run as soon as possible, on any server; a no-op if the job is queued or running, or after `stop`. */
  request(name: JobName): Promise<void>;
  /** Running jobs end at their next row; a job that takes longer than the stop limit is released. */
  stop(): Promise<void>;
};

type Deps = {
  database: Database;
  log: Logger;
  jobs: readonly Job[];
  events?: Pick<EventCounters, 'job'>;
  stopLimitMs?: number;
};

/** @throws the database's error if the queue cannot start; nothing is left running. */
export async function startJobQueue({
  database,
  log,
  jobs,
  events = NO_EVENTS,
  stopLimitMs = STOP_LIMIT_MS,
}: Deps): Promise<JobQueue> {
  await installPgBossSchema(database);
  const boss = new PgBoss({
    db: pgBossDatabase(database),
    schema: JOBS_SCHEMA,
    migrate: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
    maintenanceIntervalSeconds: HOUR_SECONDS,
    // We need no cron, and its first time zone lookup costs 15 MB.
    schedule: false,
    // pg-boss polls for jobs that depend on other jobs. We have none, so it polls once a day.
    flowIntervalSeconds: 24 * HOUR_SECONDS,
    // Rebuilding an index needs the table owner, and the tables of the jobs stay small.
    reindex: false,
    monitorVacuum: false,
  });
  // Without a listener, an `error` event would end the process. Events carry statements and rows: log only the message.
  boss.on('error', ({ message }) => log.warn({ reason: message }, 'job queue error'));
  boss.on('warning', ({ message }) => log.warn({ reason: message }, 'job queue warning'));

  const stopping = new AbortController();
  const workers = new Map<JobName, string>();
  const timers: NodeJS.Timeout[] = [];
  try {
    await boss.start();
    for (const job of jobs) {
      await prepareQueue(boss, job);
      workers.set(job.name, await boss.work(job.name, { pollingIntervalSeconds: POLL_SECONDS }, () => run(job)));
      timers.push(setInterval(() => void requestOncePerInterval(job), Math.min(job.everySeconds, HOUR_SECONDS) * 1000));
    }
  } catch (error) {
    for (const timer of timers) clearInterval(timer);
    await boss.stop({ graceful: false });
    throw error;
  }

  /**
   * pg-boss stores all properties of a thrown error, and a job's error may hold row data: throw a plain error instead.
   */
  async function run(job: Job): Promise<void> {
    if (!(await tryRun(job))) throw new Error(`${job.name} failed`);
  }

  async function tryRun({ name, run: work }: Job): Promise<boolean> {
    const startedAt = performance.now();
    try {
      const counts = await work(stopping.signal);
      const ms = Math.round(performance.now() - startedAt);
      events.job({ name, succeeded: true, ms });
      // Most runs find no work: logged at debug level to keep the log readable.
      const level = Object.values(counts).some((count) => count > 0) ? 'info' : 'debug';
      log[level]({ job: name, ms, ...counts }, 'job done');
      return true;
    } catch (error) {
      log.error({ err: error, job: name }, 'job failed');
      events.job({ name, succeeded: false, ms: performance.now() - startedAt });
      return false;
    }
  }

  /** Every server requests the job; pg-boss accepts the first request per interval. */
  async function requestOncePerInterval({ name, everySeconds: singletonSeconds }: Job): Promise<void> {
    await requestRun(name, { singletonSeconds }).catch((error: unknown) =>
      log.warn({ err: error, job: name }, 'a job request failed'),
    );
  }

  async function requestRun(name: JobName, options: SendOptions = {}): Promise<void> {
    const worker = workers.get(name);
    if (worker === undefined || stopping.signal.aborted) return;
    await boss.send(name, null, options);
    boss.notifyWorker(worker);
  }

  return {
    request: (name) => requestRun(name),
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      const finished = Promise.all([...workers.keys()].map((name) => boss.offWork(name, { wait: true })));
      await Promise.race([finished, elapsed(stopLimitMs)]);
      await Promise.race([boss.stop({ graceful: false }), elapsed(RELEASE_LIMIT_MS)]);
    },
  };
}

/**
 * Creates the queue of a job, or updates the options of an existing queue. Policy `exclusive`: at most one job per
 * queue is waiting or running across all servers.
 */
async function prepareQueue(boss: PgBoss, { name, everySeconds, retryDelaySeconds }: Job): Promise<void> {
  const options: QueueOptions = {
    expireInSeconds: EXPIRE_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retryLimit: MAX_RETRIES,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: HOUR_SECONDS,
    // Keeps a finished job for the whole interval, so `singletonSeconds` rejects a second job in the interval.
    deleteAfterSeconds: Math.max(everySeconds, HOUR_SECONDS),
  };
  await boss.createQueue(name, { ...options, policy: 'exclusive' });
  await boss.updateQueue(name, options);
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** A multi-statement text, which pg-boss wraps in BEGIN and COMMIT. */
const TRANSACTION = /^\s*BEGIN;(?<statements>[^]*?)COMMIT;?\s*$/;

/**
 * Lets pg-boss use its schema through the server's pool, as the service role. Serialises statements: all queues poll at
 * the same moment, and an idle server should not open a connection for each.
 */
function pgBossDatabase(database: Database): Db {
  const service = database.asService('run jobs');
  let last: Promise<unknown> = Promise.resolve();

  function execute(text: string, values: readonly unknown[]): Promise<Result<unknown>> {
    const { statements } = TRANSACTION.exec(text)?.groups ?? {};
    if (statements === undefined) return service.statement(text, values);
    return database.transactAsService('jobs', (transaction) => transaction.statement(statements, []));
  }

  return {
    executeSql(text, values = []) {
      const answer = last.then(() => execute(text, values));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

/**
 * The key of an advisory lock: arbitrary, but not the migrations' key. Without this lock, two servers create the schema
 * concurrently, and pg-boss leaves the slower server's connection in a failed transaction.
 */
const LOCK_KEY = 4_871_203_945;

const GRANT = `
  grant usage on schema ${JOBS_SCHEMA} to service_role;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to service_role;
  grant execute on all functions in schema ${JOBS_SCHEMA} to service_role`;

/**
 * Creates or migrates the schema `pgboss` as the table owner, on a connection of its own. Afterwards the service role
 * can use the tables but not alter them.
 */
export function installPgBossSchema(database: Database): Promise<void> {
  return database.asOwner('the tables of the jobs', async (owner) => {
    // Ending the session releases the advisory lock.
    await owner.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    const boss = new PgBoss({
      db: { executeSql: (text, values) => owner.query(text, values) },
      schema: JOBS_SCHEMA,
      supervise: false,
      schedule: false,
    });
    // Without a listener, an error event would end the process; relevant errors reject `start`.
    boss.on('error', () => undefined);
    try {
      await boss.start();
    } finally {
      await boss.stop({ graceful: false });
    }
    await owner.query(GRANT);
  });
}
