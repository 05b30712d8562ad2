/** Runs the one statement of a migration of the phase `migrate`, outside of a transaction. Idempotent after a crash. */
import type pg from 'pg';

import type { Migration, Step } from './migration-files.ts';

/**
 * An index takes hours on a large table, and its locks block neither reads nor writes, so nothing limits its time.
 */
export async function runOnce(owner: pg.Client, { sql }: Migration, step: Step): Promise<void> {
  await owner.query('set statement_timeout = 0; set lock_timeout = 0');
  if (step.kind === 'index') await dropInvalidIndex(owner, step.index);
  await owner.query(sql);
}

/** A build that was interrupted leaves an invalid index, which costs every write and serves no query. */
async function dropInvalidIndex(owner: pg.Client, index: string): Promise<void> {
  const { rowCount } = await owner.query(
    'select from pg_catalog.pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [index],
  );
  if (rowCount) await owner.query(`drop index concurrently ${index}`);
}

/** Each batch is a transaction of its own. Returns false if `signal` stopped it before the last one. */
export async function runBatches(
  run: (sql: string) => Promise<{ rowCount: number | null }>,
  { sql }: Migration,
  signal?: AbortSignal,
): Promise<boolean> {
  while (!signal?.aborted) {
    const { rowCount } = await run(sql);
    if (!rowCount) return true;
  }
  return false;
}
