/**
 * Renders src/domain/database-rows.ts: the types of all rows, and what a signed-in user may read of them, from the
 * catalog of a migrated database.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Migration } from '#server/database/migrations/migration-files.ts';

const HEADER = `/**
 * Written by \`npm run schema\` from the migrations, never edited: the rows of all tables and views as the server reads
 * them. A view's columns count as not null. A text with a check against a list of values is a union type.
 */
`;

type Column = {
  table: string;
  name: string;
  type: string;
  isNotNull: boolean;
  isIdentity: boolean;
  defaultSql: string | null;
  /** The texts that a check constraint of this column allows. */
  allowed: string[] | null;
  /** The place in the primary key, from 1. */
  keyPlace: number | null;
  isReadable: boolean;
  isInsertable: boolean;
};

const COLUMNS = `
  select case nspname when 'public' then '' else nspname || '.' end || relname as table, attname as name,
         replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type,
         attnotnull or relkind = 'v' as "isNotNull", attidentity = 'a' as "isIdentity",
         pg_get_expr(adbin, adrelid) as "defaultSql",
         (select array_agg(allowed[1]) from pg_constraint, regexp_matches(pg_get_constraintdef(oid), '''([^'']*)''::text', 'g') as allowed
           where conrelid = c.oid and contype = 'c' and conkey = array[attnum]
             and pg_get_constraintdef(oid) ~ '^CHECK \\(\\(\\w+ = (ANY \\(ARRAY\\[)?''') as allowed,
         (select array_position(conkey, attnum) from pg_constraint where conrelid = c.oid and contype = 'p') as "keyPlace",
         nspname = 'public' and has_column_privilege('authenticated', c.oid, attnum, 'select') as "isReadable",
         nspname = 'public' and has_column_privilege('authenticated', c.oid, attnum, 'insert') as "isInsertable"
    from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute on attrelid = c.oid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where nspname in ('auth', 'public') and relkind in ('r', 'p', 'v') and not relispartition and attnum > 0 and not attisdropped
   order by nspname, relname, attnum`;

const TYPES: Readonly<Record<string, string>> = {
  uuid: 'string',
  text: 'string',
  'character varying': 'string',
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  date: 'Day',
  timestamptz: 'Date',
  bytea: 'Uint8Array',
  jsonb: 'unknown',
};

function typeOf({ table, name, type, isNotNull, allowed }: Column): string {
  const isList = type.endsWith('[]');
  const element = allowed?.map((text) => `'${text}'`).join(' | ') ?? TYPES[type.replace('[]', '')];
  if (element === undefined) throw new Error(`${table}.${name}: add the type ${type} to database/row-types.ts`);
  const value = isList ? `${element}[]` : element;
  return isNotNull || value === 'unknown' ? value : `${value} | null`;
}

const quote = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);

/** @param schemaSql the text of database/schema.sql, which the digest covers too */
export async function describeRows(
  ownerUrl: string,
  migrations: readonly Migration[],
  schemaSql: string,
): Promise<string> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  let columns: Column[];
  try {
    columns = (await client.query<Column>(COLUMNS)).rows;
  } finally {
    await client.end();
  }
  const body = renderRows([...Map.groupBy(columns, ({ table }) => table)]);
  return `${HEADER}// ${digestOf(migrations, schemaSql, body)}\n${body}`;
}

type TableColumns = readonly (readonly [table: string, columns: readonly Column[]])[];

function renderRows(tables: TableColumns): string {
  const rows = tables.map(
    ([table, columns]) =>
      `  ${quote(table)}: {\n${columns.map((column) => `    ${column.name}: ${typeOf(column)};\n`).join('')}  };\n`,
  );
  const listOf = (isListed: (column: Column) => boolean): string =>
    tables
      .map(([table, columns]) => [table, columns.filter(isListed).map(({ name }) => `'${name}'`)] as const)
      .filter(([, names]) => names.length > 0)
      .map(([table, names]) => `  ${quote(table)}: ${names.join(' | ')};\n`)
      .join('');
  const readable = tables
    .map(([table, columns]) => [table, columns.filter(({ isReadable }) => isReadable)] as const)
    .filter(([, columns]) => columns.length > 0)
    .map(([table, columns]) => {
      const key = columns.filter(({ keyPlace }) => keyPlace !== null).toSorted((a, b) => a.keyPlace! - b.keyPlace!);
      const defaults = columns.filter(({ isInsertable, defaultSql }) => isInsertable && defaultSql !== null);
      return [
        `  ${table}: {\n    columns: {\n`,
        ...columns.map(({ name, type }) => `      ${name}: '${type}',\n`),
        `    },\n    key: [${key.map(({ name }) => `'${name}'`).join(', ')}],\n    defaults: {`,
        defaults.map(({ name, defaultSql }) => ` ${name}: '${defaultSql!.replaceAll("'", String.raw`\'`)}'`).join(','),
        `${defaults.length > 0 ? ' ' : ''}},\n  },\n`,
      ].join('');
    });
  return `import type { Day } from './day/day.ts';

export type Rows = {
${rows.join('')}};

/** Columns that only PostgreSQL writes. */
export type IdentityColumns = {
${listOf(({ isIdentity }) => isIdentity)}};

/** Columns that an insert may omit, because they have a default. */
export type DefaultColumns = {
${listOf(({ isIdentity, defaultSql }) => !isIdentity && defaultSql !== null)}};

/** The columns that a signed-in user may read, the key, and the defaults of the columns that the user may insert. A view has no key. */
export const READABLE_TABLES = {
${readable.join('')}} as const;

/** A row as /rest/v1 sends it to a signed-in user. */
export type ApiRow<T extends keyof typeof READABLE_TABLES> = {
  [C in keyof (typeof READABLE_TABLES)[T]['columns'] & keyof Rows[T]]: ApiValue<Rows[T][C]>;
};
type ApiValue<V> = V extends Date ? string : V;
`;
}

/** Covers the migrations and both generated files, so that a check needs no database. */
function digestOf(migrations: readonly Migration[], schemaSql: string, body: string): string {
  const hash = createHash('sha256');
  for (const { checksum } of migrations) hash.update(checksum);
  return hash.update(schemaSql).update(body).digest('hex');
}

/** True unless somebody changed a migration, or edited one of the two files, since `npm run schema`. */
export function areGeneratedFilesCurrent(migrations: readonly Migration[], schemaSql: string, rows: string): boolean {
  const [, digest, body] = /^\/\/ ([0-9a-f]{64})\n([\s\S]*)$/m.exec(rows) ?? [];
  return digest !== undefined && digestOf(migrations, schemaSql, body!) === digest;
}
