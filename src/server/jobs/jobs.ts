/**
 * The jobs as the rest of the server sees them: they begin once it answers requests, and whatever ails them, it goes on
 * answering. What runs them is loaded then, and not before.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import type { Job, JobName } from './job.ts';
import type { JobQueue } from './job-queue.ts';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** A start that hangs on a database that is gone must not keep the process from ending. */
const STOP_LIMIT_MS = 2_000;

export type Jobs = {
  /** Begins in the background, and tries again for as long as it takes. Every job runs once now, whatever its hour. */
  start(): void;
  /**
   * Has a job run within seconds, and waits for nothing. Only ever a hint: while the jobs are not up nothing happens,
   * and the next round finds the work all the same.
   */
  request(name: JobName): void;
  stop(): Promise<void>;
};

type Deps = {
  database: Database;
  log: Logger;
  jobs: readonly Job[];
  firstRetryMs?: number;
};

export function createJobs({ database, log, jobs, firstRetryMs = FIRST_RETRY_MS }: Deps): Jobs {
  const stopping = new AbortController();
  let queue: JobQueue | null = null;
  let starting: Promise<void> | null = null;

  async function startUntilItWorks(): Promise<void> {
    for (let waitMs = firstRetryMs; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const { startJobQueue } = await import('./job-queue.ts');
        queue = await startJobQueue({ database, log, jobs });
        log.info({ jobs: jobs.map(({ name }) => name) }, 'jobs started');
        for (const { name } of jobs) request(name);
        return;
      } catch (error) {
        log.warn({ err: error, waitMs }, 'the jobs cannot start yet');
        await delay(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
    }
  }

  function request(name: JobName): void {
    queue?.request(name).catch((error: unknown) => log.warn({ err: error, job: name }, 'a job could not be asked for'));
  }

  return {
    start() {
      starting ??= startUntilItWorks();
    },
    request,
    async stop() {
      stopping.abort();
      await Promise.race([starting, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
      await queue?.stop();
    },
  };
}
