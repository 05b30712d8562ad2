/**
 * Loads rows into tables that the migrations have just made. Suspends triggers, foreign keys, secondary indexes
 * and forced row-level security while it loads. The statements need only the ownership of the tables;
 * `session_replication_role` would need a superuser.
 */
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ArchivedSequence, ArchivedTable } from '../archive/archive-format.ts';
import { BackupError } from '../backup-error.ts';
import { quoteColumns, quoteTable } from './session.ts';

const SCHEMAS = ['auth', 'public'];

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
  // Building an index once is faster than a million insertions. The indexes of constraints and of partitions stay.
  `select format('drop index %s', i.indexrelid::regclass) as suspend, pg_get_indexdef(i.indexrelid) as restore
     from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indrelid
    where c.relkind = 'r' and not c.relispartition and c.relnamespace = any ($1::text[]::regnamespace[])
      and not exists (select from pg_catalog.pg_constraint where conindid = i.indexrelid)`,
];

/** Returns a function that restores what was suspended, in reverse order. Adding a foreign key again checks its rows. */
export async function prepareTables(owner: pg.Client): Promise<() => Promise<void>> {
  const statements: string[] = [];
  for (const list of SUSPENSIONS) {
    const { rows } = await owner.query<{ suspend: string; restore: string }>(list, [SCHEMAS]);
    for (const { suspend } of rows) await owner.query(suspend);
    statements.push(...rows.map(({ restore }) => restore));
  }
  return async () => {
    for (const statement of statements.toReversed()) await owner.query(statement);
  };
}

export type TableLoader = {
  /** Takes whole rows as text of COPY. Resolves when it can take more. A later call rejects if the server refused rows. */
  write(rows: Buffer): Promise<void>;
  end(): Promise<void>;
};

/** Open one loader at a time: it takes the whole connection until its `end`. */
export async function openLoader(owner: pg.Client, { name, columns }: ArchivedTable): Promise<TableLoader> {
  // The table is new in this transaction, so COPY may store its rows as frozen: no vacuum rewrites them later. PostgreSQL
  // refuses that for a partitioned table.
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
  return {
    write: (data) => call((done) => stream.write(data, done)),
    end: () => call((done) => stream.end(done)),
  };
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
