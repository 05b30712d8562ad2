/** Lets a request wait for a transaction of another one, to test what it does once that has committed. */
import type pg from 'pg';
import { expect } from 'vitest';

const WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Resolves once `count` connections to the database wait for a lock. A notice that is being prepared may wait as well. */
export async function waitUntilBlocked(pool: pg.Pool, count = 1): Promise<void> {
  await expect.poll(async () => (await pool.query(WAITING)).rowCount).toBeGreaterThanOrEqual(count);
}

/**
 * Locks the user's row, starts the request, waits until the lock blocks it, runs `change` and commits. Resolves with
 * the result of the request.
 */
export async function blockRequest<T>(
  pool: pg.Pool,
  userId: string,
  request: () => Promise<T>,
  change: (transaction: pg.PoolClient) => Promise<unknown>,
): Promise<T> {
  const transaction = await pool.connect();
  let blocked: Promise<T>;
  try {
    await transaction.query('begin');
    await transaction.query('select from auth.users where id = $1 for update', [userId]);
    blocked = request();
    await waitUntilBlocked(pool);
    await change(transaction);
    await transaction.query('commit');
  } finally {
    transaction.release(true);
  }
  return blocked;
}

/** A `change` of `blockRequest`. */
export const endSessionsOf =
  (userId: string) =>
  (transaction: pg.PoolClient): Promise<unknown> =>
    transaction.query('delete from auth.sessions where user_id = $1', [userId]);
