/**
 * Work that continues after the response, so that the response time reveals nothing about it. Best effort: failures are
 * logged, and what is unfinished at the end of a shutdown is lost.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#server/log.ts';

const MAX_TASKS = 1_000;
/** Bounds shutdown when a provider does not respond. */
const CLOSE_LIMIT_MS = 8_000;

export interface BackgroundTasks {
  /** Starts the work in a later turn of the event loop. Drops it if `MAX_TASKS` are in progress. */
  run(work: () => Promise<void>): void;
  size(): number;
  /** Waits for the running tasks, at most `CLOSE_LIMIT_MS`. */
  close(): Promise<void>;
}

export function createBackgroundTasks(log: Logger): BackgroundTasks {
  const inFlight = new Set<Promise<void>>();
  return {
    run(work) {
      if (inFlight.size >= MAX_TASKS) {
        log.error({ tasks: inFlight.size }, 'background task dropped: too many are running');
        return;
      }
      const task = nextTurn()
        .then(work)
        .catch((error: unknown) => log.error({ err: error }, 'background task failed'))
        .finally(() => inFlight.delete(task));
      inFlight.add(task);
    },
    size: () => inFlight.size,
    async close() {
      await Promise.race([Promise.all(inFlight), delay(CLOSE_LIMIT_MS, undefined, { ref: false })]);
    },
  };
}
