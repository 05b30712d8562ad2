/**
 * Starts the jobs in the background once the server accepts requests; a job failure never stops the server. The queue
 * library is loaded only then, so that it does not delay the start.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { NO_EVENTS, type EventCounters } from '../metrics/events.ts';
import type { Job, JobName } from './job.ts';
import type { JobQueue } from './job-queue.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Bounds shutdown when the start hangs on an unreachable database. */
const STOP_LIMIT_MS = 2_000;

export type Jobs = {
  /** Starts the queue in the background, with retries until it succeeds, and then requests a run of every job. */
  start(): void;
  /**
   * Requests a run within seconds, without waiting. Best effort: a no-op until the queue has started, because a run of
   * every job is requested then.
   */
  request(name: JobName): void;
  stop(): Promise<void>;
};

type Deps = {
  database: Database;
  log: Logger;
  jobs: readonly Job[];
  events?: Pick<EventCounters, 'job' | 'jobScheduled'>;
  firstRetryMs?: number;
};

export function createJobs({ database, log, jobs, events = NO_EVENTS, firstRetryMs = FIRST_RETRY_MS }: Deps): Jobs {
  for (const job of jobs) events.jobScheduled(job);
  const stopping = new AbortController();
  let queue: JobQueue | null = null;
  let starting: Promise<void> | null = null;

  async function startWithRetries(): Promise<void> {
    for (let waitMs = firstRetryMs; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      try {
        const { startJobQueue } = await import('./job-queue.ts');
        queue = await startJobQueue({ database, log, jobs, events });
        log.info({ jobs: jobs.map(({ name }) => name) }, 'jobs started');
        for (const { name } of jobs) request(name);
        return;
      } catch (error) {
        log.warn({ err: error, waitMs }, 'the jobs cannot start yet');
        await delay(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
    }
  }

  /** The requests under way, and whether their job was requested again meanwhile. */
  const requests = new Map<JobName, { isRepeated: boolean }>();

  /**
   * Sends one request of a job at a time; those that come meanwhile become one further request. Threat: a user asks for
   * an order thousands of times a second. Each time the server requests the job that sends receipts, and the queue,
   * which runs one statement after another, would delay all jobs.
   */
  function request(name: JobName): void {
    const earlier = requests.get(name);
    if (earlier) {
      earlier.isRepeated = true;
      return;
    }
    if (!queue) return;
    const own = { isRepeated: false };
    requests.set(name, own);
    void queue
      .request(name)
      .catch((error: unknown) => log.warn({ err: error, job: name }, 'a job request failed'))
      .finally(() => {
        requests.delete(name);
        if (own.isRepeated) request(name);
      });
  }

  return {
    start() {
      starting ??= startWithRetries();
    },
    request,
    async stop() {
      stopping.abort();
      await Promise.race([starting, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
      await queue?.stop();
    },
  };
}
