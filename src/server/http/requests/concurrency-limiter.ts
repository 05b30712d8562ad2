/**
 * A fair concurrency limiter with a bounded queue: bounds how many users run at once and how many requests each of them
 * runs. A free slot goes to the first queued request whose user may run one more. So one user's many requests take only
 * that user's slots and share of the queue.
 */
import { dataError } from '#server/data/errors.ts';

export type ConcurrencyLimiter = {
  /** Resolves with `release` once the user has a slot. Throws PGRST000 when the queue, or the user's share, is full. */
  acquire(userId: string): Promise<() => void>;
};

type Limits = {
  /** How many users run at once. */
  maxUsers: number;
  /** How many requests of one user run at once. */
  maxPerUser?: number;
  maxQueued: number;
  maxQueuedPerUser: number;
};

/**
 * Creates the limiter for the writes and the ordinary reads of the data wire; costly reads have a limiter of their own.
 * Six per user is as many as a browser sends at once over HTTP/1.1 and fewer than the connections of the database pool.
 */
export const createPerUserLimiter = (): ConcurrencyLimiter =>
  createConcurrencyLimiter({ maxUsers: Infinity, maxPerUser: 6, maxQueued: 2_000, maxQueuedPerUser: 100 });

/** Runs `work` in a slot of the user and releases the slot afterwards. */
export async function runLimited<Result>(
  limiter: ConcurrencyLimiter,
  userId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = await limiter.acquire(userId);
  try {
    return await work();
  } finally {
    release();
  }
}

/** The default is for costly work: four users at a time, with one request each. */
export function createConcurrencyLimiter(
  limits: Limits = { maxUsers: 4, maxQueued: 100, maxQueuedPerUser: 10 },
): ConcurrencyLimiter {
  const { maxUsers, maxPerUser = 1 } = limits;
  const running = new Map<string, number>();
  const queue: { userId: string; start: () => void }[] = [];

  function hasFreeSlot(userId: string): boolean {
    const own = running.get(userId);
    return own === undefined ? running.size < maxUsers : own < maxPerUser;
  }

  function occupySlot(userId: string): () => void {
    running.set(userId, (running.get(userId) ?? 0) + 1);
    return () => {
      const left = running.get(userId)! - 1;
      if (left === 0) running.delete(userId);
      else running.set(userId, left);
      const next = queue.findIndex((queued) => hasFreeSlot(queued.userId));
      if (next !== -1) queue.splice(next, 1)[0]!.start();
    };
  }

  return {
    async acquire(userId) {
      if (hasFreeSlot(userId)) return occupySlot(userId);
      const own = queue.filter((queued) => queued.userId === userId).length;
      if (queue.length >= limits.maxQueued || own >= limits.maxQueuedPerUser) {
        throw dataError('PGRST000', { message: 'Too much at once. Please try again in a moment' });
      }
      return new Promise((resolve) => queue.push({ userId, start: () => resolve(occupySlot(userId)) }));
    },
  };
}
