/** Shares the connections of the pool fairly. The pool's own queue is unbounded and first come, first served. */
import type pg from 'pg';
import { createConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';
import type { ConcurrencyLimiter } from '#server/load/concurrency-limiter.ts';

const MAX_QUEUED = 1_000;
/** Shorter than a browser waits for a save, so that it learns that the server is busy. */
const MAX_WAIT_MS = 5_000;

export type SharedConnections = {
  readonly limiter: ConcurrencyLimiter;
  /** Throws a BusyError if the queue is full. */
  connect(): Promise<pg.PoolClient>;
};

export function shareConnections(pool: pg.Pool): SharedConnections {
  const { max } = pool.options;
  const limiter = createConcurrencyLimiter({
    maxRunning: max,
    // Threat: a user whose statements wait for each other's locks holds connections for seconds. Half of them stay free.
    maxPerClient: Math.ceil(max / 2),
    maxQueued: MAX_QUEUED,
    maxWaitMs: MAX_WAIT_MS,
  });
  return {
    limiter,
    async connect() {
      const free = limiter.tryAcquire() ?? (await limiter.acquire());
      const client = await pool.connect().catch((error: unknown) => {
        free();
        throw error;
      });
      const release = client.release.bind(client);
      // The pool sets `release` anew each time. It gets the connection back first: the next in the queue takes it at once.
      client.release = (error) => {
        release(error);
        free();
      };
      return client;
    },
  };
}
