/**
 * Shares the connections of the pool fairly: the pool's own queue is unbounded and first come, first served. Quick
 * reads share a connection by pipelining.
 *
 * Quick reads that start in one turn of the event loop are written to one connection together, and their results are
 * read together: the process and PostgreSQL then need fewer system calls (docs/decisions/0045).
 */
import type pg from 'pg';
import { createConcurrencyLimiter, type ConcurrencyLimiter, type Release } from '#server/load/concurrency-limiter.ts';
import type { RequestPool } from './request-pool.ts';

const MAX_QUEUED = 1_000;
/** Shorter than a page waits for its save, so that the page learns that the server is busy. */
const MAX_WAIT_MS = 5_000;
/** Bounds a pipeline, because a statement waits for those before it. */
export const MAX_PIPELINED = 8;

export type Lease = {
  readonly client: pg.PoolClient;
  /** Ends the use of the connection, which is closed if `error` shows that it should not serve another request. */
  release(error?: unknown): void;
  /** Ends the use of the connection, which is closed after the other statements of its pipeline. */
  discard(): void;
};

export type SharedConnections = {
  readonly limiter: ConcurrencyLimiter;
  /**
   * A connection for one statement or transaction at a time. Throws a BusyError if the queue is full or the wait too
   * long.
   */
  lease(): Promise<Lease>;
  /**
   * A connection for one quick read, which may share it with others.
   *
   * @param isPrepared whether the statement is prepared on a connection: only then it joins a pipeline, so that no
   *   statement depends on the Parse of another one that may fail
   */
  leasePipelined(isPrepared: (client: pg.PoolClient) => boolean): Promise<Lease>;
};

/** The use of a connection from the pool, by one statement or transaction or by the statements of a pipeline. */
type Use = { readonly client: pg.PoolClient; started: number; running: number; isBroken: boolean };

export function shareConnections(requests: RequestPool): SharedConnections {
  const { pool } = requests;
  const { max } = pool.options;
  const limiter = createConcurrencyLimiter({
    maxRunning: max,
    // Threat: a user whose statements wait for each other's locks holds connections for seconds. Half of all
    // connections stay free for other users.
    maxPerClient: Math.ceil(max / 2),
    maxQueued: MAX_QUEUED,
    maxWaitMs: MAX_WAIT_MS,
  });

  async function beginUse(free: Release): Promise<Use> {
    try {
      return { client: await pool.connect(), started: 0, running: 0, isBroken: false };
    } catch (error) {
      free();
      throw error;
    }
  }

  function leaseOf(use: Use, free: Release): Lease {
    use.started += 1;
    use.running += 1;
    const end = (isBroken: boolean): void => {
      use.isBroken ||= isBroken;
      use.running -= 1;
      // Before `free`, which starts the limiter's next waiter: that one should find this connection idle.
      if (use.running === 0) requests.release(use.client, use.isBroken);
      free();
    };
    return {
      client: use.client,
      release: (error) => end(error !== undefined && requests.handleError(error)),
      discard: () => end(true),
    };
  }

  /** The pipelines of this turn of the event loop. Their connections are corked. */
  let pipelines: Use[] = [];
  /** Settles, without an error, once the latest pipeline on an idle connection is open. */
  let opening: Promise<unknown> = Promise.resolve();

  async function openPipeline(free: Release): Promise<Lease> {
    const use = await beginUse(free);
    use.client.connection.stream.cork();
    if (pipelines.length === 0) setImmediate(sendPipelines);
    pipelines.push(use);
    return leaseOf(use, free);
  }

  function sendPipelines(): void {
    for (const { client } of pipelines) client.connection.stream.uncork();
    pipelines = [];
  }

  return {
    limiter,
    async lease() {
      const free = await limiter.acquire();
      return leaseOf(await beginUse(free), free);
    },
    async leasePipelined(isPrepared) {
      const free = await limiter.acquire();
      // Queued reads start at the same moment, and would open a pipeline each. So a read waits for the pipeline that is
      // being opened, and, if that one is full, for the pipeline that another read opens meanwhile.
      for (let awaited: Promise<unknown> | null = null; awaited !== opening;) await (awaited = opening);
      const pipeline = pipelines.find(
        // Without a running statement, its connection is back in the pool and may serve a transaction by now.
        ({ client, started, running }) => running > 0 && started < MAX_PIPELINED && isPrepared(client),
      );
      if (pipeline) return leaseOf(pipeline, free);
      // The uses that already wait for the pool get its idle connections first.
      const isIdle = pool.idleCount > pool.waitingCount;
      const opened = openPipeline(free);
      // Other reads do not wait while a new connection to the database is opened.
      if (isIdle) opening = opened.catch(() => undefined);
      return opened;
    },
  };
}
