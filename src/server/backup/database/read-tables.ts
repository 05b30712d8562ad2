/** Reads the tables as text of COPY. */
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { ArchivedSequence, ArchivedTable } from '../archive/archive-format.ts';
import { quoteColumns, quoteTable } from './session.ts';

/** Other schemas need no copy: the header lists the migrations, and the next start makes the job queue (`pgboss`) again. */
const SCHEMAS = ['auth', 'public'];

/**
 * Left out: unlogged tables, which a crash empties too (the counters of rate limits); parts of a partitioned table, which
 * is read as a whole; tables of extensions.
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

export type FoundTable = ArchivedTable & {
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
 * Reads as the owner, because the service role may not read sequences. Call it after the snapshot is taken: then each
 * sequence is ahead of every row in the snapshot.
 */
export async function readSequences(owner: pg.Client): Promise<ArchivedSequence[]> {
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

/** Streams the rows of a table. One row ends with one line break. */
export function streamRows(client: pg.Client, { name, columns }: ArchivedTable): AsyncIterable<Buffer> {
  return client.query(copyTo(`copy (select ${quoteColumns(columns)} from ${quoteTable(name)}) to stdout`));
}
