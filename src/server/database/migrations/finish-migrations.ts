/** Applies the migrations of the phases `migrate` and `contract` while servers serve, one server at a time. */
import type pg from 'pg';

import type { Logger } from '#server/log.ts';

import type { AsService, FinishOptions, MigrationProgress } from '../database.ts';
import { findPendingSteps, migrationLabel, recordMigration } from './ledger.ts';
import { applyInTransaction, tryLock, withMigrationsLocked } from './migrate.ts';
import type { Migration } from './migration-files.ts';
import { runBatches, runOnce } from './online-step.ts';
import { findOlderServers } from './server-versions.ts';

/** The key of an advisory lock: arbitrary, but not that of the migrations at start, which must not wait for an index. */
const LOCK_KEY = 4_871_203_946;

export type FinishDeps = FinishOptions & {
  service: AsService;
  /** Runs `work` on a connection of the tables' owner. */
  asOwner(work: (owner: pg.Client) => Promise<MigrationProgress>): Promise<MigrationProgress>;
};

type Deps = FinishDeps & { migrations: readonly Migration[]; log: Logger };

export async function finishMigrations(deps: Deps): Promise<MigrationProgress> {
  const { service, migrations } = deps;
  if ((await findPendingSteps(service, migrations)).length === 0) return { applied: 0, waitsFor: null };
  return deps.asOwner(async (owner) => {
    // Ending the session releases the advisory lock.
    if (!(await tryLock(owner, LOCK_KEY))) return { applied: 0, waitsFor: 'another server applies a step now' };
    let applied = 0;
    for (const migration of await findPendingSteps(service, migrations)) {
      const waitsFor = await applyStep(owner, migration, deps);
      if (waitsFor !== null) return { applied, waitsFor: `${migrationLabel(migration)}: ${waitsFor}` };
      applied += 1;
      deps.log.info({ migration: migrationLabel(migration) }, 'migrated');
    }
    return { applied, waitsFor: null };
  });
}

/** Returns null once the step is applied, otherwise what it waits for. */
async function applyStep(owner: pg.Client, migration: Migration, deps: Deps): Promise<string | null> {
  const { service, log, signal, force = false } = deps;
  const { step } = migration;
  if (signal?.aborted) return 'this server stops';
  if (step === null) {
    const older = force ? [] : await findOlderServers(owner, migration);
    if (older.length > 0) return `servers of an older version are connected (${older.join(', ')})`;
    // Under the lock of the migrations at start: an older server that starts meanwhile reads the ledger afterwards and
    // refuses the database.
    await withMigrationsLocked(owner, () => applyInTransaction(owner, migration, log));
    return null;
  }
  // Batches run as the service: row-level security would hide rows from the owner.
  if (step.kind !== 'batches') await runOnce(owner, migration, step);
  else if (!(await runBatches((sql) => service.statement(sql, []), migration, signal))) return 'this server stops';
  await recordMigration(owner, migration);
  return null;
}
