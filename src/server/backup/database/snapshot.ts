/**
 * One consistent view of the database, for as long as the backup reads it. It takes no lock that a save waits for.
 *
 * Rows are read as the service role, which bypasses row-level security whatever the rights of the owner. With
 * `row_security` off, PostgreSQL refuses a read that a policy would filter: a backup never lacks rows silently.
 */
import pg from 'pg';
import { isLoginFailure } from '../../database/database-error.ts';
import { hasLedger } from '../../database/migrations/ledger.ts';
import { requestConnection } from '../../database/roles.ts';
import type { ArchivedMigration, ArchivedSequence, ArchivedTable } from '../archive/archive-format.ts';
import { BackupError } from '../backup-error.ts';
import { listTables, readSequences, streamRows } from './read-tables.ts';
import { connectSession, dropSession, quoteTable } from './session.ts';

export type Snapshot = {
  readonly postgres: string;
  readonly migrations: ArchivedMigration[];
  readonly tables: ArchivedTable[];
  /** Tables in our schemas that no migration made, so the service role cannot read them. */
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
