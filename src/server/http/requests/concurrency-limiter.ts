/**
 * Limits how many requests run at once: of what is costly, one request each of a few users; of everything else, a few of
 * each user. The rest of the connections stay free for saves, whoever asks for how much, and somebody with many requests
 * waits behind themselves, not before everybody else.
 */
import { dataError } from '#server/data/errors.ts';

export type Turns = {
  /** Resolves when it is this user's turn, with what ends it. Throws PGRST000 when too many wait already. */
  take(userId: string): Promise<() => void>;
};

/**
 * Turns for every request of one wire: a user may have a few under way, and another user never waits for them. More than a
 * browser sends at once, and fewer than the database has connections.
 */
export const createUserLanes = (): Turns =>
  createTurns({ users: Infinity, each: 6, waiting: 2_000, waitingOfOne: 100 });

/** Runs the work in the user's turn. */
export async function inTurn<Result>(turns: Turns, userId: string, run: () => Promise<Result>): Promise<Result> {
  const end = await turns.take(userId);
  try {
    return await run();
  } finally {
    end();
  }
}

/** `each`: how many requests of one user run at once. `users`: how many users have a turn at once. */
type Limits = { users: number; each?: number; waiting: number; waitingOfOne: number };

export function createTurns(limits: Limits = { users: 4, waiting: 100, waitingOfOne: 10 }): Turns {
  const { users, each = 1 } = limits;
  const running = new Map<string, number>();
  const queue: { userId: string; start: () => void }[] = [];

  function isFree(userId: string): boolean {
    const own = running.get(userId);
    return own === undefined ? running.size < users : own < each;
  }

  function turnOf(userId: string): () => void {
    running.set(userId, (running.get(userId) ?? 0) + 1);
    return () => {
      const left = running.get(userId)! - 1;
      if (left === 0) running.delete(userId);
      else running.set(userId, left);
      const next = queue.findIndex((waiting) => isFree(waiting.userId));
      if (next !== -1) queue.splice(next, 1)[0]!.start();
    };
  }

  return {
    async take(userId) {
      if (isFree(userId)) return turnOf(userId);
      const own = queue.filter((waiting) => waiting.userId === userId).length;
      if (queue.length >= limits.waiting || own >= limits.waitingOfOne) {
        throw dataError('PGRST000', { message: 'Too much at once. Please try again in a moment' });
      }
      return new Promise((resolve) => queue.push({ userId, start: () => resolve(turnOf(userId)) }));
    },
  };
}
