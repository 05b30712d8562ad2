/**
 * Finds a user's rows and text columns in the catalogue of PostgreSQL, so that a test of the deletion of an account
 * also covers tables and columns that are added later (docs/specification/accounts.md 12).
 */
import type { Pool, PoolClient } from 'pg';

type ForeignKey = { table: string; columns: string[]; target: string; target_columns: string[] };
type Column = { table: string; column: string; type: string };

/** Leaves partitions out, because their rows are also rows of the partitioned table. */
const IS_TABLE = "relkind in ('r', 'p') and not relispartition";
const IN_USER_SCHEMAS = `relnamespace::regnamespace::text in ('auth', 'public')`;
const TABLE_NAME = `relnamespace::regnamespace || '.' || relname`;

const findTables = async (admin: Pool): Promise<string[]> =>
  (
    await admin.query<{ name: string }>(
      `select ${TABLE_NAME} as name from pg_class where ${IS_TABLE} and ${IN_USER_SCHEMAS} order by 1`,
    )
  ).rows.map(({ name }) => name);

async function findForeignKeys(admin: Pool): Promise<ForeignKey[]> {
  const columnsOf = (relation: string, numbers: string): string =>
    `(select array_agg(attname::text order by position) from unnest(${numbers}) with ordinality as key (number, position)
       join pg_attribute on attrelid = ${relation} and attnum = key.number)`;
  const nameOf = (relation: string): string => `(select ${TABLE_NAME} from pg_class where pg_class.oid = ${relation})`;
  const { rows } = await admin.query<ForeignKey>(
    `select ${nameOf('conrelid')} as table, ${columnsOf('conrelid', 'conkey')} as columns,
            ${nameOf('confrelid')} as target, ${columnsOf('confrelid', 'confkey')} as target_columns
       from pg_constraint where contype = 'f' and conparentid = 0`,
  );
  return rows;
}

async function findColumns(admin: Pool): Promise<Column[]> {
  const { rows } = await admin.query<Column>(
    `select ${TABLE_NAME} as table, attname as column, format_type(atttypid, null) as type
       from pg_attribute join pg_class on pg_class.oid = attrelid
      where ${IS_TABLE} and ${IN_USER_SCHEMAS} and attnum > 0 and not attisdropped and attgenerated = ''
      order by 1, attnum`,
  );
  return rows;
}

export type PersonalTables = {
  /** For each table that leads to a user: the SQL condition that selects the rows of the user `$1`. */
  conditions: Map<string, string>;
  /** The tables that do not lead to a user. */
  impersonal: string[];
};

/** A table leads to a user by a column `user_id`, or by foreign keys to a table that does. */
export async function findPersonalTables(admin: Pool): Promise<PersonalTables> {
  const [tables, keys, columns] = await Promise.all([findTables(admin), findForeignKeys(admin), findColumns(admin)]);
  const conditions = new Map([['auth.users', 'id = $1']]);
  for (const { table, column } of columns) if (column === 'user_id') conditions.set(table, 'user_id = $1');
  for (let size = 0; size < conditions.size;) {
    size = conditions.size;
    const found = new Map<string, string[]>();
    for (const { table, columns: own, target, target_columns: others } of keys) {
      const condition = conditions.get(target);
      if (condition === undefined || conditions.has(table)) continue;
      const rows = `select ${others.join(', ')} from ${target} where ${condition}`;
      found.set(table, [...(found.get(table) ?? []), `(${own.join(', ')}) in (${rows})`]);
    }
    for (const [table, ways] of found) conditions.set(table, ways.join(' or '));
  }
  return { conditions, impersonal: tables.filter((table) => !conditions.has(table)) };
}

/** Types whose values hold no text of a person. */
const TEXTLESS = new Set(
  'uuid boolean smallint smallint[] integer bigint date'.split(' ').concat('timestamp with time zone'),
);
/** SQL that adds the mark `$2` to the value of a column. */
const ADD_MARK: Readonly<Record<string, (column: string) => string>> = {
  text: (column) => `coalesce(${column}, '') || $2::text`,
  'text[]': (column) => `${column} || $2::text`,
  bytea: (column) => `coalesce(${column}, '') || convert_to($2, 'UTF8')`,
  jsonb: (column) => `coalesce(nullif(${column}, 'null'), '{}') || jsonb_build_object($2::text, $2::text)`,
};

type Marks = { marked: string[]; refused: string[] };

/**
 * Adds a mark to every column of a user's rows that can hold text. `refused` are columns whose constraint allows no
 * such value, and the columns of foreign keys. Throws for a type that the helper does not know.
 */
export async function markPersonalColumns(
  admin: Pool,
  { userId, mark, conditions }: { userId: string; mark: string } & Pick<PersonalTables, 'conditions'>,
): Promise<Marks> {
  const [columns, keys] = await Promise.all([findColumns(admin), findForeignKeys(admin)]);
  const isKey = ({ table, column }: Column): boolean =>
    keys.some(
      (key) =>
        (key.table === table && key.columns.includes(column)) ||
        (key.target === table && key.target_columns.includes(column)),
    );
  const marks: Marks = { marked: [], refused: [] };
  const client = await admin.connect();
  try {
    // Disables triggers, which would refuse to change the ledgers and the audit log.
    await client.query('begin; set local session_replication_role = replica');
    for (const item of columns) {
      const { table, column, type } = item;
      const condition = conditions.get(table);
      if (condition === undefined || TEXTLESS.has(type)) continue;
      const addMark = ADD_MARK[type];
      if (!addMark) throw new Error(`${table}.${column}: unknown type ${type}`);
      const update = `update ${table} set ${column} = ${addMark(column)} where ${condition}`;
      const isMarked = !isKey(item) && (await isAccepted(client, update, [userId, mark]));
      marks[isMarked ? 'marked' : 'refused'].push(`${table}.${column}`);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
  return marks;
}

const CHECK_VIOLATION = '23514';

async function isAccepted(client: PoolClient, update: string, values: unknown[]): Promise<boolean> {
  await client.query('savepoint mark');
  try {
    await client.query(update, values);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== CHECK_VIOLATION) throw error;
    await client.query('rollback to savepoint mark');
    return false;
  }
}

/** The columns of any table that contain the mark. */
export async function findMarks(admin: Pool, mark: string): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column, type } of await findColumns(admin)) {
    const text = type === 'bytea' ? `encode(${column}, 'escape')` : `${column}::text`;
    const { rowCount } = await admin.query(`select from ${table} where position($1 in ${text}) > 0 limit 1`, [mark]);
    if (rowCount !== 0) found.push(`${table}.${column}`);
  }
  return found;
}
