/**
 * One consistent view of the database, for as long as the backup reads it. It takes no lock that a save waits for.
 *
 * Rows are read as the service role, which bypasses row-level security whatever the rights of the owner. With
 * `row_security` off, PostgreSQL refuses a read that a policy would filter: a backup never lacks rows silently.
 */
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupError, type ArchivedMigration, type ArchivedSequence, type ArchivedTable } from './archive-format.ts';
import { isLoginFailure } from '../database/database-error.ts';
import { hasLedger } from '../database/migrations/ledger.ts';
import { requestConnection } from '../database/roles.ts';

export type Snapshot = {
  readonly postgres: string;
  readonly migrations: ArchivedMigration[];
  readonly tables: ArchivedTable[];
  /** Tables in our schemas that the service role cannot read, because no migration made them. */
  readonly leftOut: string[];
  readonly sequences: ArchivedSequence[];
  /** Streams the rows of one table at a time. */
  streamRows(table: ArchivedTable): AsyncIterable<Buffer>;
  /** Ends the connections at once, also within a COPY. */
  drop(): void;
};

const READ_LEDGER =
  'select set, number, name, checksum, applied_at::text as "appliedAt" from migrations.applied order by set, number';

/** @throws BackupError, or the error of the database. */
export async function openSnapshot(ownerUrl: string): Promise<Snapshot> {
  const owner = await connectSession({ connectionString: ownerUrl });
  let reader: pg.Client | null = null;
  const drop = (): void => {
    dropSession(owner);
    if (reader !== null) dropSession(reader);
  };
  try {
    await rejectUnused(owner);
    reader = await connectReader(ownerUrl);
    const found = await listTables(owner);
    const tables = found.flatMap(({ name, columns, isReadable }) => (isReadable ? [{ name, columns }] : []));
    await reader.query('begin isolation level repeatable read, read only');
    // The locks come before the first read, which takes the snapshot: a migration cannot change a table in between.
    const names = tables.map(({ name }) => quoteTable(name)).join(', ');
    await reader.query(`lock table ${names}, migrations.applied in access share mode`);
    const { rows: migrations } = await reader.query<ArchivedMigration>(READ_LEDGER);
    const hasChanged = JSON.stringify(await listTables(owner)) !== JSON.stringify(found);
    if (hasChanged) throw new BackupError('a migration changed the tables at this moment: start the backup again');
    const { rows } = await owner.query<{ version: string }>("select current_setting('server_version') as version");
    const sequences = await readSequences(owner);
    const snapshotReader = reader;
    return {
      postgres: rows[0]!.version,
      migrations,
      tables,
      leftOut: found.flatMap(({ name, isReadable }) => (isReadable ? [] : [name])),
      sequences,
      streamRows: (table) => streamRows(snapshotReader, table),
      drop,
    };
  } catch (error) {
    drop();
    throw error;
  }
}

async function rejectUnused(owner: pg.Client): Promise<void> {
  if (!(await hasLedger(owner)))
    throw new BackupError('there is nothing to back up: the database has no tables of Hustle Forge');
}

async function connectReader(ownerUrl: string): Promise<pg.Client> {
  try {
    const reader = await connectSession(requestConnection(ownerUrl));
    await reader.query('set role service_role');
    await reader.query('set row_security to off');
    return reader;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !isLoginFailure(error.code)) throw error;
    throw new BackupError(
      `the login for requests does not work (${error.message}): start the server once, which renews it`,
      { cause: error },
    );
  }
}

/** Other schemas need no copy: the header lists the migrations, and the next start makes the job queue (`pgboss`) again. */
const SCHEMAS = ['auth', 'public'];

/**
 * Left out: unlogged tables, which a crash empties too (the counters of rate limits); parts of a partitioned table,
 * which is read as a whole; tables of extensions.
 */
const LIST_TABLES = `
  select format('%s.%s', n.nspname, c.relname) as name,
         (select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_catalog.pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
         has_table_privilege('service_role', c.oid, 'select') as "isReadable"
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   order by 1`;

type FoundTable = ArchivedTable & {
  /** Whether the service role may read it. It may read every table that the migrations make. */
  isReadable: boolean;
};

export async function listTables(client: pg.Client): Promise<FoundTable[]> {
  return (await client.query<FoundTable>(LIST_TABLES, [SCHEMAS])).rows;
}

const LIST_SEQUENCES = `
  select format('%s.%s', tn.nspname, t.relname) as "table", a.attname as "column",
         format('%I.%I', sn.nspname, s.relname) as sequence
    from pg_catalog.pg_class s join pg_catalog.pg_namespace sn on sn.oid = s.relnamespace
    join pg_catalog.pg_depend d
      on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.refclassid = 'pg_class'::regclass
     and d.deptype in ('a', 'i') and d.refobjsubid > 0
    join pg_catalog.pg_class t on t.oid = d.refobjid join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
   where s.relkind = 'S' and tn.nspname = any ($1)
   order by 1, 2`;

/**
 * Reads as the owner, because the service role may not read sequences. Call it after the snapshot is taken: then no row
 * of the snapshot is ahead of its sequence.
 */
async function readSequences(owner: pg.Client): Promise<ArchivedSequence[]> {
  const { rows } = await owner.query<{ table: string; column: string; sequence: string }>(LIST_SEQUENCES, [SCHEMAS]);
  const sequences: ArchivedSequence[] = [];
  for (const { table, column, sequence } of rows) {
    const { rows: values } = await owner.query<{ last_value: string; is_called: boolean }>(
      `select last_value::text, is_called from ${sequence}`,
    );
    sequences.push({ table, column, lastValue: values[0]!.last_value, isCalled: values[0]!.is_called });
  }
  return sequences;
}

/** Streams the rows of a table as text of COPY. Each row ends with the only line break in it. */
export function streamRows(client: pg.Client, { name, columns }: ArchivedTable): AsyncIterable<Buffer> {
  return client.query(copyTo(`copy (select ${quoteColumns(columns)} from ${quoteTable(name)}) to stdout`));
}

// The connections of a backup or a restore, and how they print values.

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes every server and version print values in the same way, so that the hashes of two databases can be compared.
 * Switches off the role's time limits for statements and transactions, which a backup of a large database would exceed.
 */
const SESSION = `
  set client_encoding to 'UTF8'; set timezone to 'UTC'; set datestyle to 'ISO'; set intervalstyle to 'postgres';
  set bytea_output to 'hex'; set extra_float_digits to 1; set xmloption to 'content';
  set statement_timeout to 0; set idle_in_transaction_session_timeout to 0; set lock_timeout to '60s';
  set client_min_messages to 'warning'`;

/** Not `hustle-forge`: the trigger on `entries` reports changes to connections of that name, and nobody here reads them. */
export const APPLICATION_NAME = 'hustle-forge-backup';

export async function connectSession(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({
    ...options,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A broken connection rejects the query in flight. Without a listener, its `error` event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(SESSION);
  return client;
}

/** Also ends a connection in the middle of a COPY, where a graceful end would wait for it. */
export function dropSession(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Quotes schema and table: `public.entries` becomes `"public"."entries"`. */
export const quoteTable = (name: string): string => name.split('.').map(pg.escapeIdentifier).join('.');

export const quoteColumns = (columns: readonly string[]): string => columns.map(pg.escapeIdentifier).join(', ');
