/**
 * Applies migrations. At the start, before the server listens, the pending ones of the phase `expand`: forward only,
 * each in its own transaction, under an advisory lock; an empty database gets those of all phases. The other phases
 * follow while servers serve, one server at a time (`finishMigrations`).
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import { LISTENER_NAME } from '../changes/change-listener.ts';
import { probeSessions } from '../connection/inspect-pooler.ts';
import type { AsService, FinishOptions, MigrationProgress } from '../database.ts';
import { ensureRoles } from '../roles.ts';
import {
  findMigration,
  findPendingSteps,
  migrationLabel,
  readLedger,
  recordMigration,
  rejectOtherHistory,
  type MigrationId,
} from './ledger.ts';
import { readMigrations, type Migration, type Step } from './migration-files.ts';

/** The key of the advisory lock: an arbitrary number, but the same in every version of the program. */
export const LOCK_KEY = 4_871_203_944;
const LOCK_POLL_MS = 200;

/**
 * A statement of DDL that waits for a lock makes later statements on that table wait behind it. So it waits only a
 * moment, and the migration is retried while a long transaction holds the lock.
 */
const LOCK_TIMEOUT_MS = 1_000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
const GIVE_UP_MS = 5 * 60_000;
/** SQLSTATEs: lock timeout, deadlock. */
const LOCK_CONFLICTS: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

type Options = {
  /** The folder of the migrations; by default this program's. */
  folder?: URL | undefined;
};

/**
 * @throws Error for the operator: PostgreSQL is too old, DATABASE_URL leads to a pooler that shares sessions, a role
 * cannot be set up, the applied migrations do not fit this program, or a migration fails.
 */
export async function migrate(ownerUrl: string, log: Logger, { folder }: Options = {}): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    await rejectOldServer(owner);
    await rejectSharedSession(owner, ownerUrl);
    await withMigrationsLocked(owner, async () => {
      await ensureRoles(owner, ownerUrl);
      const applied = rejectOtherHistory(await readLedger(owner), migrations);
      const isEmpty = applied.length === 0;
      for (const migration of migrations) {
        if (findMigration(applied, migration) || (migration.phase !== 'expand' && !isEmpty)) continue;
        await applyMigration(owner, migration, log);
        log.info({ migration: migrationLabel(migration) }, 'migrated');
      }
    });
  } finally {
    await owner.end();
  }
  return migrations;
}

async function applyMigration(owner: pg.Client, migration: Migration, log: Logger): Promise<void> {
  const { step } = migration;
  if (step === null) return applyInTransaction(owner, migration, log);
  if (step.kind === 'batches') await runBatches((sql) => owner.query(sql), migration);
  else await runOnce(owner, migration, step);
  return recordMigration(owner, migration);
}

/**
 * Polls for the lock: the snapshot of a statement that waits for it would block an index that another server builds
 * concurrently.
 */
export async function withMigrationsLocked(owner: pg.Client, work: () => Promise<void>): Promise<void> {
  while (!(await tryLock(owner, LOCK_KEY))) await delay(LOCK_POLL_MS);
  try {
    await work();
  } finally {
    // On a broken connection the lock is gone already, and the error of `work` counts.
    await owner.query('select pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => undefined);
  }
}

/** Tries to take the lock that keeps every server from migrating, and so from starting, until the session ends. */
export const tryMigrationsLock = (owner: pg.Client): Promise<boolean> => tryLock(owner, LOCK_KEY);

/** A session lock: ending the session releases it. */
async function tryLock(owner: pg.Client, key: number): Promise<boolean> {
  const { rows } = await owner.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [key]);
  return rows[0]!.locked;
}

/** The oldest server that is supported, as PostgreSQL numbers its versions. */
export const MIN_SERVER_VERSION = 150_000;

async function rejectOldServer(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ version: string; old: boolean }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int < $1 as old",
    [MIN_SERVER_VERSION],
  );
  const { version, old } = rows[0]!;
  if (old) throw new Error(`PostgreSQL 15 or newer is needed, and this server is ${version}`);
}

/**
 * The advisory lock of the migrations belongs to the session. Behind a pooler that shares sessions it would stay on one
 * of them after this process has gone, and the next start would hang.
 */
async function rejectSharedSession(owner: pg.Client, ownerUrl: string): Promise<void> {
  const { rows } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid');
  // PostgreSQL sends a client the process id of its session. A pooler sends an id of its own.
  if (rows[0]!.pid === (owner as unknown as { processID: number }).processID) return;
  const sessions = await probeSessions(async () => {
    const client = new pg.Client({ connectionString: ownerUrl });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  });
  if (sessions === 'session') return;
  throw new Error(
    'DATABASE_URL leads to a pooler that shares sessions, which migrations, locks and LISTEN need for themselves: ' +
      'set DATABASE_POOL_URL to this address and DATABASE_URL to the address of PostgreSQL',
  );
}

async function applyInTransaction(owner: pg.Client, migration: Migration, log: Logger): Promise<void> {
  const startedAt = Date.now();
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    try {
      await owner.query('begin');
      await owner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await owner.query(migration.sql);
      await recordMigration(owner, migration);
      await owner.query('commit');
      return;
    } catch (cause) {
      await owner.query('rollback').catch(() => undefined);
      const isConflict = cause instanceof pg.DatabaseError && LOCK_CONFLICTS.has(cause.code);
      if (!isConflict || Date.now() - startedAt > GIVE_UP_MS) throw failure(migration, cause);
      log.warn(
        { migration: migrationLabel(migration), waitMs },
        'another transaction holds the lock that a migration needs',
      );
      await delay(waitMs);
    }
  }
}

function failure(migration: Migration, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`migration ${migrationLabel(migration)} failed and was rolled back: ${reason}`, { cause });
}

/** The key of an advisory lock: arbitrary, but not that of the migrations at start, which must not wait for an index. */
const FINISH_LOCK_KEY = 4_871_203_946;

export type FinishDeps = FinishOptions & {
  service: AsService;
  /** Runs `work` on a connection of the tables' owner. */
  asOwner(work: (owner: pg.Client) => Promise<MigrationProgress>): Promise<MigrationProgress>;
};

type FinishMigrationsDeps = FinishDeps & { migrations: readonly Migration[]; log: Logger };

export async function finishMigrations(deps: FinishMigrationsDeps): Promise<MigrationProgress> {
  const { service, migrations } = deps;
  if ((await findPendingSteps(service, migrations)).length === 0) return { applied: 0, waitsFor: null };
  return deps.asOwner(async (owner) => {
    // Ending the session releases the advisory lock.
    if (!(await tryLock(owner, FINISH_LOCK_KEY))) return { applied: 0, waitsFor: 'another server applies a step now' };
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
async function applyStep(owner: pg.Client, migration: Migration, deps: FinishMigrationsDeps): Promise<string | null> {
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

// Runs the one statement of a migration of the phase `migrate`. It is idempotent, because a crash before the entry in
// the ledger repeats it.

/** No time limit: building an index on a large table may take hours, and its lock blocks neither reads nor writes. */
async function runOnce(owner: pg.Client, { sql }: Migration, step: Step): Promise<void> {
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
async function runBatches(
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

// Versions of the program that are connected: each server's connection for changes names its last migrations.

const READ_SERVERS = `
  select application_name as name from pg_catalog.pg_stat_activity
   where datname = current_database() and starts_with(application_name, $1)`;

/** The `application_name` of a server, such as `hustle-forge-changes auth/3 app/22`. */
export function serverName(migrations: readonly MigrationId[]): string {
  const last = new Map(migrations.map(({ set, number }) => [set, number]));
  return [LISTENER_NAME, ...[...last].map(([set, number]) => `${set}/${number}`)].join(' ');
}

/**
 * The names of the connected servers that do not know a migration. Best effort: a server that has lost its connection
 * at this moment is missed. It notices the contracted database by itself and stops being ready.
 */
async function findOlderServers(owner: pg.Client, { set, number }: MigrationId): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(READ_SERVERS, [LISTENER_NAME]);
  const lastOf = (name: string): number => Number(new RegExp(` ${set}/(\\d+)`).exec(name)?.[1] ?? 0);
  return rows.map(({ name }) => name).filter((name) => lastOf(name) < number);
}
