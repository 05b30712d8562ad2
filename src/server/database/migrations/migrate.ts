/**
 * Applies pending migrations: forward only, each in its own transaction, under an advisory lock. Rejects a database
 * with migrations unknown to this program, and one whose applied migrations have changed.
 */
import pg from 'pg';

import type { Logger } from '#server/log.ts';

import type { AsService } from '../database.ts';
import { readMigrations } from './migration-files.ts';
import type { Migration } from './migration-files.ts';
import { ensureRoles } from '../roles.ts';

/** The key of the advisory lock: an arbitrary number, but the same in every version of the program. */
const LOCK_KEY = 4_871_203_944;

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
  grant usage on schema migrations to service_role;
  grant select on migrations.applied to service_role`;

type Applied = { set: string; number: number; name: string; checksum: string };

/** @throws Error that names the migration when the database is newer, has a changed migration, or one fails. */
export async function migrate(ownerUrl: string, log: Logger): Promise<Migration[]> {
  const migrations = await readMigrations();
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    await rejectOldServer(owner);
    await owner.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    await ensureRoles(owner, ownerUrl);
    const applied = await readLedger(owner);
    rejectOtherHistory(applied, migrations);
    for (const migration of migrations) {
      if (!applied.some(({ set, number }) => set === migration.set && number === migration.number)) {
        await apply(owner, migration);
        log.info({ migration: label(migration) }, 'migrated');
      }
    }
  } finally {
    // Ending the session releases the advisory lock.
    await owner.end();
  }
  return migrations;
}

/** True while the database has as many migrations as this program, whose start has compared each of them. */
export async function isMigrated(service: AsService, migrations: readonly Migration[]): Promise<boolean> {
  const { rows } = await service.statement<{ count: number }>('select count(*) from migrations.applied', []);
  return rows[0]?.count === migrations.length;
}

const label = ({ set, number, name }: Applied) => `${set}/${String(number).padStart(4, '0')}_${name}`;

async function rejectOldServer(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ version: string; old: boolean }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int < 150000 as old`,
  );
  if (rows[0]?.old) throw new Error(`PostgreSQL 15 or newer is needed, and this server is ${rows[0].version}`);
}

async function readLedger(owner: pg.Client): Promise<Applied[]> {
  const { rows: found } = await owner.query("select to_regclass('migrations.applied') is not null as exists");
  if (!found[0]?.exists) await owner.query(MAKE_LEDGER);
  const { rows } = await owner.query<Applied>('select set, number, name, checksum from migrations.applied');
  return rows;
}

function rejectOtherHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const row of applied) {
    const known = migrations.find(({ set, number }) => set === row.set && number === row.number);
    if (!known) {
      throw new Error(`the database is newer than this program: it has ${label(row)}. Start the newer version.`);
    }
    if (known.checksum !== row.checksum) {
      throw new Error(`${label(known)} was changed after it had been applied. Undo that, and write a new migration.`);
    }
  }
}

async function apply(owner: pg.Client, migration: Migration): Promise<void> {
  try {
    await owner.query('begin');
    await owner.query(migration.sql);
    await owner.query('insert into migrations.applied (set, number, name, checksum) values ($1, $2, $3, $4)', [
      migration.set,
      migration.number,
      migration.name,
      migration.checksum,
    ]);
    await owner.query('commit');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`migration ${label(migration)} failed and was rolled back: ${reason}`, { cause });
  }
}
