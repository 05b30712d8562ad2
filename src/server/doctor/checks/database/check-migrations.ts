/** Checks that the database has the migrations of this program, and no others. */
import type pg from 'pg';
import {
  findMigration,
  hasLedger,
  migrationLabel,
  rejectOtherHistory,
  type AppliedMigration,
} from '#server/database/migrations/ledger.ts';
import { readMigrations } from '#server/database/migrations/migration-files.ts';
import { fault, ok, reasonOf, warning, type Finding } from '../../check.ts';

export async function checkMigrations(owner: pg.Client): Promise<Finding[]> {
  const known = await readMigrations();
  if (!(await hasLedger(owner)))
    return [warning('the database is empty', 'The first start of the server makes the tables.')];
  // An older ledger has no column `phase`.
  const { rows: ledger } = await owner.query<AppliedMigration>(
    `select set, number, name, checksum, coalesce(to_jsonb(applied) ->> 'phase', 'expand') as phase from migrations.applied`,
  );
  let applied: AppliedMigration[];
  try {
    applied = rejectOtherHistory(ledger, known);
  } catch (error) {
    return [fault(reasonOf(error), 'Start the version of the program that fits the database, or restore a backup.')];
  }
  const newer = applied.filter((row) => !findMigration(known, row));
  if (newer.length > 0) {
    return [
      warning(
        `a newer version of this program has applied ${newer.map(migrationLabel).join(', ')}`,
        'Finish the upgrade: replace this version on every machine.',
      ),
    ];
  }
  const pending = known.filter((migration) => !findMigration(applied, migration));
  const expanding = pending.filter(({ phase }) => phase === 'expand');
  if (expanding.length > 0) {
    return [
      warning(
        `pending migrations: ${expanding.map(migrationLabel).join(', ')}`,
        'Back up, then start this version: it applies them.',
      ),
    ];
  }
  return [
    pending.length === 0
      ? ok(`all ${known.length} migrations are applied`)
      : ok(
          `all migrations for this version are applied; ${pending.map(migrationLabel).join(', ')} follow in the background`,
        ),
  ];
}
