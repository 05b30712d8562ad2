/**
 * Turns for what is costly: a few users at once, one request of each. The rest of the connections stay free for saves,
 * whoever asks for how much, and somebody with many requests waits behind themselves, not before everybody else.
 */
import { dataError } from './errors.ts';

export type Turns = {
  /** Resolves when it is this user's turn, with what ends it. Throws PGRST000 when too many wait already. */
  take(userId: string): Promise<() => void>;
};

/** Runs the work in the user's turn. */
export async function inTurn<Result>(turns: Turns, userId: string, run: () => Promise<Result>): Promise<Result> {
  const end = await turns.take(userId);
  try {
    return await run();
  } finally {
    end();
  }
}

type Limits = { users: number; waiting: number; waitingOfOne: number };

export function createTurns(limits: Limits = { users: 4, waiting: 100, waitingOfOne: 10 }): Turns {
  const having = new Set<string>();
  const queue: { userId: string; start: () => void }[] = [];

  const isFree = (userId: string): boolean => having.size < limits.users && !having.has(userId);

  function turnOf(userId: string): () => void {
    having.add(userId);
    return () => {
      having.delete(userId);
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
