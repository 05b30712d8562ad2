/**
 * Restores an archive: tables and rows in one transaction, so a failure or a kill leaves them as they were. The tables
 * are made by the migrations that the archive lists. Migrations that are newer run afterwards, as at any start. The key
 * files follow the commit; after a kill the next start of the server puts them in place.
 */
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import {
  findMigration,
  foldHistory,
  migrationLabel,
  readLedger,
  recordMigration,
} from '../database/migrations/ledger.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { readMigrations, type Migration } from '../database/migrations/migration-files.ts';
import { ensureRoles } from '../database/roles.ts';
import {
  RowHash,
  BackupError,
  type ArchivedMigration,
  type ArchivedTable,
  type Header,
  type TableContent,
  type OnProgress,
} from './archive-format.ts';
import { differingTables, readArchive, type Source, type VerifiedArchive } from './read-archive.ts';
import {
  openLoader,
  prepareTables,
  restoreSequences,
  checkTarget,
  dropAllObjects,
  reserveDatabase,
  type TableLoader,
} from './load-tables.ts';
import { listTables, streamRows, connectSession, dropSession, quoteTable } from './read-tables.ts';
import { recordRestore } from './finish-restore.ts';
import type { KeyPlacement, PlacedFile } from './key-files.ts';

/**
 * SQLSTATE classes by which PostgreSQL rejects what an archive contains: feature not supported (0A), data (22),
 * constraint (23), invalid schema (3F), syntax, name or right (42).
 */
const REJECTIONS: ReadonlySet<string> = new Set(['0A', '22', '23', '3F', '42']);

export type RestoreOptions = {
  ownerUrl: string;
  source: Source;
  /** The result of `verifyArchive` on the same source. */
  archive: VerifiedArchive;
  keyPlacement: KeyPlacement;
  /** Deletes what the database holds. */
  replace: boolean;
  program: string;
  log: Logger;
  signal?: AbortSignal | undefined;
  onProgress?: OnProgress | undefined;
  /** The folder of the migrations; by default this program's. */
  migrationsFolder?: URL | undefined;
};

export type RestoreResult = {
  /** Tables of the archive that no migration creates. Their rows are not restored. */
  unknownTables: string[];
  keyFiles: PlacedFile[];
};

/**
 * @throws BackupError, or the error of the database or the file system. Then no row was changed, unless the message
 *   says otherwise or a migration failed that runs after the restore.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { ownerUrl, archive, keyPlacement, replace, log, signal, migrationsFolder } = options;
  const migrations = chooseMigrations(archive.header, await readMigrations(migrationsFolder), options.program);
  const owner = await connectSession({ connectionString: ownerUrl });
  const stop = (): void => dropSession(owner);
  signal?.addEventListener('abort', stop);
  let restored: RestoreResult;
  let isCommitting = false;
  try {
    await reserveDatabase(owner);
    await checkTarget(owner, { replace });
    await ensureRoles(owner, ownerUrl);
    await owner.query('begin');
    const unknownTables = await fillDatabase(owner, migrations, options);
    signal?.throwIfAborted();
    await keyPlacement.stage();
    await recordRestore(owner, keyPlacement.restoreId);
    isCommitting = true;
    await owner.query('commit').catch((cause: unknown) => {
      throw new BackupError(
        'the connection was lost during the commit: start the server, which keeps what was committed, or restore again with --replace',
        { cause },
      );
    });
    restored = { unknownTables, keyFiles: await keyPlacement.place() };
    await owner.end();
  } catch (error) {
    if (isCommitting) throw error;
    await keyPlacement.discard();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    dropSession(owner);
  }
  await migrate(ownerUrl, log, { folder: migrationsFolder });
  return restored;
}

/** The migrations of the archive, in the order of the program. @throws BackupError if they do not fit this program. */
function chooseMigrations(
  { migrations: ledger, program: writer }: Header,
  known: readonly Migration[],
  program: string,
): (Migration & Pick<ArchivedMigration, 'appliedAt'>)[] {
  const { rows: archived, fault } = foldHistory(ledger, known);
  if (fault) {
    const { text, lastVersion } = fault;
    const advice =
      lastVersion && `. Restore it with ${lastVersion}, start that version, and make a new backup with it.`;
    throw new BackupError(`the backup ${text}${advice ?? ''}`);
  }
  // Threat: an archive lacks the migrations of a set. The tables of that set would count as unknown and not be
  // restored.
  const lacking = known.find(({ set }) => !archived.some((migration) => migration.set === set));
  if (lacking) throw new BackupError(`the backup is damaged: it has no migration of the set ${lacking.set}`);
  for (const migration of archived) {
    const match = findMigration(known, migration);
    if (!match) {
      throw new BackupError(
        `the backup is newer than this program: it has ${migrationLabel(migration)}. ` +
          `Restore it with version ${writer} or a newer one (this is ${program})`,
      );
    }
    if (match.checksum !== migration.checksum) {
      throw new BackupError(
        `the backup was made with another ${migrationLabel(migration)} than this program has: use that program`,
      );
    }
  }
  return known.flatMap((migration) => {
    const applied = findMigration(archived, migration);
    return applied ? [{ ...migration, appliedAt: applied.appliedAt }] : [];
  });
}

/** Makes the tables, loads the rows and compares them with the manifest. Returns `RestoreResult.unknownTables`. */
async function fillDatabase(
  owner: pg.Client,
  migrations: readonly (Migration & Pick<ArchivedMigration, 'appliedAt'>)[],
  { source, archive, onProgress = () => undefined }: RestoreOptions,
): Promise<string[]> {
  const { header, manifest } = archive;
  await dropAllObjects(owner);
  await readLedger(owner);
  await explainRejection('its migrations', async () => {
    for (const migration of migrations) await applyMigration(owner, migration);
  });
  const finishTables = await explainRejection('its migrations', () => prepareTables(owner));

  const known = new Map((await listTables(owner)).map((table) => [table.name, table]));
  const isKnown = ({ name }: ArchivedTable): boolean => known.has(name);
  checkTables(header.tables, known);
  await emptyTables(owner, header.tables.filter(isKnown));
  await loadRows(owner, header.tables.filter(isKnown), source, onProgress);
  await explainRejection('its sequences', () =>
    restoreSequences(
      owner,
      header.sequences.filter(({ table }) => known.has(table)),
    ),
  );

  const expected: Record<string, TableContent> = {};
  const found: Record<string, TableContent> = {};
  for (const table of header.tables.filter(isKnown)) {
    expected[table.name] = manifest.tables[table.name]!;
    found[table.name] = await hashTable(owner, table, onProgress);
  }
  const differing = differingTables(expected, found);
  if (differing.length > 0) {
    throw new BackupError(`the restored rows differ from the backup, so nothing was kept: ${differing.join(', ')}`);
  }
  onProgress({ doing: 'building indexes', bytes: 0 });
  await explainRejection('its rows', finishTables);
  await owner.query('analyze');
  return header.tables.filter((table) => !isKnown(table)).map(({ name }) => name);
}

/** @throws BackupError that says what the database rejects, if it does. The transaction ends, so nothing is kept. */
async function explainRejection<T>(part: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !REJECTIONS.has(error.code?.slice(0, 2) ?? '')) throw error;
    throw new BackupError(`the database does not accept the backup, so nothing was kept: ${part}: ${error.message}`, {
      cause: error,
    });
  }
}

/** @throws BackupError unless the archive has each table that its migrations make, with the same columns. */
function checkTables(archived: readonly ArchivedTable[], known: ReadonlyMap<string, ArchivedTable>): void {
  const lacking = [...known.keys()].filter((name) => !archived.some((table) => table.name === name));
  if (lacking.length > 0) throw new BackupError(`the backup is damaged: it lacks ${lacking.join(', ')}`);
  for (const { name, columns } of archived) {
    const expected = known.get(name)?.columns ?? columns;
    const differing = [...columns, ...expected].filter((one) => columns.includes(one) !== expected.includes(one));
    if (differing.length > 0) {
      throw new BackupError(
        `the backup's ${name} has other columns than the migrations of Hustle Forge make: ${differing.join(', ')}`,
      );
    }
  }
}

/**
 * A server runs a migration with a `step` in the background. Here the tables are empty: `batches` have no rows to
 * change, and an index need not be built concurrently.
 */
async function applyMigration(
  owner: pg.Client,
  migration: Migration & Pick<ArchivedMigration, 'appliedAt'>,
): Promise<void> {
  const { set, number, sql, step, appliedAt } = migration;
  if (step === null) await owner.query(sql);
  else if (step.kind !== 'batches') await owner.query(sql.replace(/ concurrently\b/i, ''));
  await recordMigration(owner, migration);
  await owner.query('update migrations.applied set applied_at = $3 where set = $1 and number = $2', [
    set,
    number,
    appliedAt,
  ]);
}

/** Deletes the rows that migrations inserted: the archive has its own, with which their keys would collide. */
async function emptyTables(owner: pg.Client, tables: readonly ArchivedTable[]): Promise<void> {
  for (const { name } of tables) await owner.query(`delete from ${quoteTable(name)}`);
}

async function loadRows(
  owner: pg.Client,
  tables: readonly ArchivedTable[],
  source: Source,
  onProgress: OnProgress,
): Promise<void> {
  let current: { name: string; loader: TableLoader; bytes: number } | null = null;
  const explain = (work: () => Promise<void> | undefined) =>
    explainRejection(current?.name ?? 'its rows', async () => work());
  for await (const entry of readArchive({ ...source, onRead: undefined })) {
    if (entry.kind !== 'data') continue;
    if (entry.table !== current?.name) {
      await explain(() => current?.loader.end());
      const table = tables.find(({ name }) => name === entry.table);
      current = table ? { name: table.name, loader: await openLoader(owner, table), bytes: 0 } : null;
    }
    if (current === null) continue;
    await explain(() => current?.loader.write(entry.data));
    current.bytes += entry.data.length;
    onProgress({ doing: `loading ${current.name}`, bytes: current.bytes });
  }
  await explain(() => current?.loader.end());
}

async function hashTable(owner: pg.Client, table: ArchivedTable, onProgress: OnProgress): Promise<TableContent> {
  const rows = new RowHash();
  let bytes = 0;
  for await (const chunk of streamRows(owner, table)) {
    rows.update(chunk);
    bytes += chunk.length;
    onProgress({ doing: `comparing ${table.name}`, bytes });
  }
  return rows.content();
}
