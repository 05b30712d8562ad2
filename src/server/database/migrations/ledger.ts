/** The ledger of applied migrations, and whether a program and a database fit each other. */
import { createHash } from 'node:crypto';
import type pg from 'pg';

import type { AsService } from '../database.ts';
import type { Migration, Phase } from './migration-files.ts';

/** The schema name must not match a role name, because a role's own schema comes first on its search path. */
const MAKE_LEDGER = `
  create schema if not exists migrations;
  create table if not exists migrations.applied (
    set text not null,
    number integer not null,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now(),
    primary key (set, number)
  );
  alter table migrations.applied add column if not exists phase text not null default 'expand';
  grant usage on schema migrations to service_role;
  grant select on migrations.applied to service_role`;

const IS_CURRENT = `
  select exists (select from pg_catalog.pg_attribute
    where attrelid = to_regclass('migrations.applied') and attname = 'phase') as exists`;

export type MigrationId = { set: string; number: number };
type NamedMigration = MigrationId & { name: string; checksum: string };
export type AppliedMigration = NamedMigration & { phase: Phase };

/** Whether a server of this program has migrated the database. */
export async function hasLedger(owner: pg.Client): Promise<boolean> {
  const { rows } = await owner.query<{ exists: boolean }>(
    "select to_regclass('migrations.applied') is not null as exists",
  );
  return rows[0]!.exists;
}

export async function readLedger(owner: pg.Client): Promise<AppliedMigration[]> {
  const { rows: found } = await owner.query<{ exists: boolean }>(IS_CURRENT);
  if (!found[0]!.exists) await owner.query(MAKE_LEDGER);
  const { rows } = await owner.query<AppliedMigration>(
    'select set, number, name, checksum, phase from migrations.applied',
  );
  return rows;
}

export async function recordMigration(
  owner: pg.Client,
  { set, number, name, checksum, phase }: Migration,
): Promise<void> {
  await owner.query('insert into migrations.applied (set, number, name, checksum, phase) values ($1, $2, $3, $4, $5)', [
    set,
    number,
    name,
    checksum,
    phase,
  ]);
}

/** How a ledger differs from the history that a baseline replaces. `text` continues "the database …". */
export type HistoryFault = { text: string; lastVersion: string | null };

/**
 * The applied migrations as this program counts them: all that a baseline replaces count as the baseline. The ledger
 * keeps their rows, so that servers of the version before can go on.
 */
export function foldHistory<Row extends NamedMigration>(
  applied: readonly Row[],
  migrations: readonly Migration[],
): { rows: Row[]; fault: HistoryFault | null } {
  let rows = [...applied];
  for (const baseline of migrations) {
    const { replaces, set, number, name, checksum } = baseline;
    if (replaces === null) continue;
    const isReplaced = (row: Row): boolean => row.set === set && row.number <= number;
    const history = rows.filter(isReplaced).toSorted((one, other) => one.number - other.number);
    const last = history.at(-1);
    if (!last || last.name === name) continue;
    const checksums = history.map((row) => row.checksum).join('\n');
    if (createHash('sha256').update(checksums).digest('hex') !== replaces.sha256) {
      return { rows, fault: describeFault(baseline, history.length, replaces.count) };
    }
    rows = [...rows.filter((row) => !isReplaced(row)), { ...last, name, checksum }];
  }
  return { rows, fault: null };
}

function describeFault(baseline: Migration, found: number, count: number): HistoryFault {
  const label = migrationLabel(baseline);
  if (found >= count) return { text: `has other migrations than those that ${label} replaces`, lastVersion: null };
  const folder = `database/migrations/${baseline.set} ends with ${String(baseline.number).padStart(4, '0')}`;
  return {
    text: `is of an older version: it has ${found} of the ${count} migrations that ${label} replaces`,
    lastVersion: `the last version whose folder ${folder}`,
  };
}

/**
 * Rejects a database that a newer program has contracted, whose applied migrations differ from this program's files, or
 * that lacks some of the migrations that a baseline replaces. Other migrations of a newer program leave this one
 * working. Returns the applied migrations as `foldHistory` does.
 */
export function rejectOtherHistory(
  ledger: readonly AppliedMigration[],
  migrations: readonly Migration[],
): AppliedMigration[] {
  const { rows: applied, fault } = foldHistory(ledger, migrations);
  if (fault) {
    const { text, lastVersion } = fault;
    const advice =
      lastVersion &&
      `. Start ${lastVersion}, run \`npm run admin -- migrations:finish\` with it until no migration is left, ` +
        'then start this version.';
    throw new Error(`the database ${text}${advice ?? ''}`);
  }
  for (const row of applied) {
    const known = findMigration(migrations, row);
    if (!known && row.phase === 'contract') {
      throw new Error(
        `the database is newer than this program: it has ${migrationLabel(row)}. Start the newer version.`,
      );
    }
    if (known && known.checksum !== row.checksum) {
      throw new Error(
        `${migrationLabel(known)} was changed after it had been applied. Undo that, and write a new migration.`,
      );
    }
  }
  return applied;
}

/**
 * True while the database has every expansion of this program and no contraction of a newer one. Compares no checksums,
 * because `migrate` has done so at the start.
 */
export async function isMigrated(service: AsService, migrations: readonly Migration[]): Promise<boolean> {
  const applied = await readApplied(service);
  return (
    migrations.every((migration) => migration.phase !== 'expand' || findMigration(applied, migration)) &&
    applied.every((row) => row.phase !== 'contract' || findMigration(migrations, row))
  );
}

/** The migrations of the phases `migrate` and `contract` that the database still lacks, in order. */
export async function findPendingSteps(service: AsService, migrations: readonly Migration[]): Promise<Migration[]> {
  const applied = await readApplied(service);
  return migrations.filter((migration) => migration.phase !== 'expand' && !findMigration(applied, migration));
}

async function readApplied(service: AsService): Promise<(MigrationId & { phase: Phase })[]> {
  return (
    await service.statement<MigrationId & { phase: Phase }>('select set, number, phase from migrations.applied', [])
  ).rows;
}

export function findMigration<Row extends MigrationId>(
  rows: readonly Row[],
  { set, number }: MigrationId,
): Row | undefined {
  return rows.find((row) => row.set === set && row.number === number);
}

export const migrationLabel = ({ set, number, name }: MigrationId & { name: string }): string =>
  `${set}/${String(number).padStart(4, '0')}_${name}`;
