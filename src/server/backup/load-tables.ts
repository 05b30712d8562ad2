/** Checks and empties the database that a restore fills, and loads its tables. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BackupError, type ArchivedSequence, type ArchivedTable } from './archive-format.ts';
import { APPLICATION_NAME, quoteColumns, quoteTable } from './read-tables.ts';
import { hasLedger } from '../database/migrations/ledger.ts';
import { tryMigrationsLock } from '../database/migrations/migrate.ts';

/** How long to wait for an interrupted restore: PostgreSQL notices that its client is gone, and ends its session. */
const PATIENCE_MS = 5_000;
const POLL_MS = 50;

/**
 * After a first start of the server only these tables have rows. Such a database is unused: a restore may replace it.
 */
const FILLED_AT_START = [
  'auth.audit_log',
  'auth.signing_keys',
  'auth.sso_domains',
  'auth.sso_providers',
  'public.coach_reader',
];

const SCHEMAS = ['auth', 'public', 'migrations', 'pgboss'];

const LIST_FILLED = `
  select format('%s.%s', n.nspname, c.relname) as name
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname in ('auth', 'public') and c.relkind = 'r' and c.relpersistence = 'p'
     and pg_catalog.pg_relation_size(c.oid) > 0
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   order by 1`;

const FIND_SERVERS = `
  select count(*) filter (where application_name <> '${APPLICATION_NAME}')::int as servers, count(*)::int as all
    from pg_catalog.pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid() and starts_with(application_name, 'hustle-forge')`;

/**
 * Reserves the database until the session ends: a server that starts meanwhile waits, instead of migrating a
 * half-restored database.
 *
 * @throws BackupError when a server, a backup or another restore uses it
 */
export async function reserveDatabase(owner: pg.Client): Promise<void> {
  for (const since = Date.now(); ; await delay(POLL_MS)) {
    const isLocked = await tryMigrationsLock(owner);
    const { rows } = await owner.query<{ servers: number; all: number }>(FIND_SERVERS);
    const { servers, all } = rows[0]!;
    if (isLocked && all === 0) return;
    if (servers > 0) throw new BackupError('a server uses the database: stop it first');
    if (Date.now() - since > PATIENCE_MS) {
      throw new BackupError('a server that starts, a backup or another restore uses the database: stop it first');
    }
  }
}

/**
 * The other schemas as a whole, and the objects in `public` that the owner made, except those of extensions. The schema
 * `public` itself stays, and keeps its rights.
 */
const LIST_OBJECTS = `
  with mine as (select oid from pg_catalog.pg_roles where rolname = current_user),
  schemas as (select oid, nspname from pg_catalog.pg_namespace where nspname = any ($1)),
  extension_objects as (select classid, objid from pg_catalog.pg_depend where deptype = 'e')
  select format('schema %I', nspname) as name, format('drop schema %I cascade', nspname) as sql, 1 as place
    from schemas where nspname <> 'public'
  union all
  select format('%I.%I', s.nspname, c.relname), format('drop %s if exists %I.%I cascade',
           case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
           s.nspname, c.relname), case c.relkind when 'S' then 3 else 2 end
    from pg_catalog.pg_class c join schemas s on s.oid = c.relnamespace, mine
   where s.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner = mine.oid
     and ('pg_class'::regclass, c.oid) not in (select classid, objid from extension_objects)
  union all
  select p.oid::regprocedure::text, format('drop routine if exists %s cascade', p.oid::regprocedure), 4
    from pg_catalog.pg_proc p join schemas s on s.oid = p.pronamespace, mine
   where s.nspname = 'public' and p.proowner = mine.oid
     and ('pg_proc'::regclass, p.oid) not in (select classid, objid from extension_objects)
  order by place`;

/**
 * @throws BackupError when `replace` is not given and the database holds data, or objects that no server of this
 *   program has made
 */
export async function checkTarget(owner: pg.Client, { replace }: { replace: boolean }): Promise<void> {
  if (replace) return;
  const foreign = (await hasLedger(owner)) ? [] : await listObjects(owner);
  const used = [...new Set([...(await listFilledTables(owner)), ...foreign])];
  if (used.length === 0) return;
  const examples = used.slice(0, 3).join(', ') + (used.length > 3 ? ', ...' : '');
  throw new BackupError(
    `the database is not empty (${examples}): use --replace to delete what it holds, or restore into another one`,
  );
}

async function listFilledTables(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(LIST_FILLED);
  return rows.map(({ name }) => name).filter((name) => !FILLED_AT_START.includes(name));
}

async function listObjects(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(LIST_OBJECTS, [SCHEMAS]);
  return rows.map(({ name }) => name);
}

/** Runs in the transaction of the restore, so a failure brings everything back. */
export async function dropAllObjects(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ sql: string }>(LIST_OBJECTS, [SCHEMAS]);
  for (const { sql } of rows) await owner.query(sql);
}

// Loads rows into tables that the migrations have just made. Suspends triggers, foreign keys, secondary indexes
// and forced row-level security while it loads. The statements need only the ownership of the tables;
// `session_replication_role` would need a superuser.

const LOADED_SCHEMAS = ['auth', 'public'];

/** Each query returns pairs of statements: `suspend`, and `restore`, which undoes it. Run in this order. */
const SUSPENSIONS: readonly string[] = [
  // The owner is subject to forced row-level security, with which COPY into a table is refused.
  `select format('alter table %s no force row level security', c.oid::regclass) as suspend,
          format('alter table %s force row level security', c.oid::regclass) as restore
     from pg_catalog.pg_class c where c.relforcerowsecurity and c.relnamespace = any ($1::text[]::regnamespace[])`,
  `select format('alter table %s disable trigger %I', t.tgrelid::regclass, t.tgname) as suspend,
          format('alter table %s enable trigger %I', t.tgrelid::regclass, t.tgname) as restore
     from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled = 'O'
      and c.relnamespace = any ($1::text[]::regnamespace[])`,
  `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as suspend,
          format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as restore
     from pg_catalog.pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace = any ($1::text[]::regnamespace[])`,
  // Building an index once is faster than a million insertions. Indexes of constraints and of partitioned tables stay.
  `select format('drop index %s', i.indexrelid::regclass) as suspend, pg_get_indexdef(i.indexrelid) as restore
     from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indrelid
    where c.relkind = 'r' and not c.relispartition and c.relnamespace = any ($1::text[]::regnamespace[])
      and not exists (select from pg_catalog.pg_constraint where conindid = i.indexrelid)`,
];

/** Returns a function that restores what was suspended, in reverse order. Adding a foreign key again checks its rows. */
export async function prepareTables(owner: pg.Client): Promise<() => Promise<void>> {
  const statements: string[] = [];
  for (const list of SUSPENSIONS) {
    const { rows } = await owner.query<{ suspend: string; restore: string }>(list, [LOADED_SCHEMAS]);
    for (const { suspend } of rows) await owner.query(suspend);
    statements.push(...rows.map(({ restore }) => restore));
  }
  return async () => {
    for (const statement of statements.toReversed()) await owner.query(statement);
  };
}

export type TableLoader = {
  /**
   * Takes whole rows as text of COPY. Resolves when it can take more. Rejects if the server refused rows of this or an
   * earlier call.
   */
  write(rows: Buffer): Promise<void>;
  end(): Promise<void>;
};

/** Open one loader at a time: it takes the whole connection until its `end`. */
export async function openLoader(owner: pg.Client, { name, columns }: ArchivedTable): Promise<TableLoader> {
  // The table is new in this transaction, so COPY may store its rows as frozen: no vacuum rewrites them later.
  // PostgreSQL refuses that for a partitioned table.
  const { rows } = await owner.query<{ plain: boolean }>(
    "select relkind = 'r' as plain from pg_catalog.pg_class where oid = to_regclass($1)",
    [quoteTable(name)],
  );
  const options = rows[0]?.plain ? ' with (freeze)' : '';
  const stream = owner.query(copyFrom(`copy ${quoteTable(name)} (${quoteColumns(columns)}) from stdin${options}`));
  // After an error of the server the callbacks of the stream are never called.
  const failed = new Promise<never>((_resolve, reject) => stream.once('error', reject));
  failed.catch(() => undefined);
  const call = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([failed, new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))]);
  return { write: (data) => call((done) => stream.write(data, done)), end: () => call((done) => stream.end(done)) };
}

/** @throws BackupError when a column has no sequence. */
export async function restoreSequences(owner: pg.Client, sequences: readonly ArchivedSequence[]): Promise<void> {
  for (const { table, column, lastValue, isCalled } of sequences) {
    const { rows } = await owner.query<{ set: string | null }>(
      'select setval(pg_get_serial_sequence($1, $2), $3::bigint, $4) as set',
      [quoteTable(table), column, lastValue, isCalled],
    );
    if (rows[0]!.set === null) throw new BackupError(`the backup has a sequence of ${table}.${column}, which has none`);
  }
}
