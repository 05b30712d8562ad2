/**
 * Translates a query into one statement. The statement returns one row, the JSON text of the result and its number of
 * rows, or with `returnsItems` the JSON of each row; a write without a requested result returns no row. PostgreSQL
 * builds the JSON, so the server does not parse and serialize rows. Pure; queries of the same shape have the same text,
 * so their plan is reused.
 */
import { DATE_HEADER_CLASS } from '#domain/log/entry-html.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import type { Order, Preferences, Query, Range, Rows, Comparison, Condition, Truth } from './query.ts';

/**
 * The result of a statement. A statement selects an optional column only if the request needs it. A write that returns
 * no rows yields only `amount`, from the row count.
 */
export type QueryResult = {
  /** A JSON array. */
  body?: string;
  /** Number of rows of the result, with or without a body. */
  amount: number;
  /** Number of matching rows without limit and offset. */
  total?: number;
  /** Number of rows that an upsert inserted. */
  inserted?: number;
  /** The primary key of the first written row, null without one. */
  firstKey?: Readonly<Record<string, unknown>> | null;
  /** True if the texts or their JSON are too long; `body` then lacks rows. */
  isTooLong?: boolean;
};

/** A row of a statement with `returnsItems`: the JSON object of one result row. */
export type Item = { item: string };

/**
 * The texts of one answer together. The process holds an answer in memory until its client has read it. Threat: one
 * request for a journal of ten years of full logs would take a gigabyte.
 */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/**
 * Room for texts that JSON escapes as two bytes a character, such as quotes. Threat: control characters take six bytes
 * each.
 */
const MAX_JSON_BYTES = 2 * MAX_TEXT_BYTES;

const AMOUNT = 'count(*)::int as amount';
/** Occurs several times in a statement. PostgreSQL evaluates equal aggregates only once. */
const LIMITED_JSON = `(json_agg(page.item) filter (where page.bytes <= ${MAX_TEXT_BYTES}))`;

/**
 * The select list that makes the body of a page, and the `from` item with the page.
 *
 * @param texts the long texts of the page, whose sum is limited; none for a page that cannot be too long
 */
function bodySql(
  page: string,
  texts: readonly Column[],
  { omitsNulls }: Pick<Preferences, 'omitsNulls'>,
): { body: string; source: string } {
  const asText = (json: string): string => `${omitsNulls ? `json_strip_nulls(${json})` : json}::text`;
  if (texts.length === 0)
    return { body: `${asText("coalesce(json_agg(page), '[]')")} as body`, source: `(${page}) page` };
  // PostgreSQL reads only the length of a stored text, unless the query reads the text too.
  const length = texts.map((column) => `coalesce(octet_length(page.${quoteColumn(column)}), 0)`).join(' + ');
  const sum = `sum(${length}) over (rows unbounded preceding)`;
  const json = asText(LIMITED_JSON);
  const body =
    `case when octet_length(${json}) <= ${MAX_JSON_BYTES} then ${json} else '[]' end as body, ` +
    `coalesce(max(page.bytes) > ${MAX_TEXT_BYTES} or octet_length(${json}) > ${MAX_JSON_BYTES}, false) as "isTooLong"`;
  return { body, source: `(select page as item, ${sum} as bytes from (${page}) page) page` };
}

function rangeSql({ limit, offset }: Range, values: Values): string {
  return (limit === null ? '' : ` limit ${values.add(limit)}`) + (offset === 0 ? '' : ` offset ${values.add(offset)}`);
}

/** `parts.body` is false for HEAD: the rows are only counted. `limitedTexts` as for `bodySql`. */
export function selectSql(
  table: ExposedTable,
  query: Query,
  parts: { body: boolean; total: boolean; omitsNulls?: boolean; limitedTexts?: readonly Column[] },
): Sql {
  const values = new Values();
  const where = whereSql(query.where, values);
  const from = `from ${tableName(table)}${where}`;
  const page = parts.body
    ? `select ${quoteColumns(query.select)} ${from}${orderSql(query.order)}${rangeSql(query.range, values)}`
    : `select ${from}${rangeSql(query.range, values)}`;
  const { body, source } = bodySql(page, parts.body ? (parts.limitedTexts ?? []) : [], {
    omitsNulls: parts.omitsNulls ?? false,
  });
  const results = [...(parts.body ? [body] : []), AMOUNT];
  // Uses the same parameters: the total has exactly the filters of the page.
  if (parts.total) results.push(`(select count(*) ${from})::int as total`);
  return { text: `select ${results.join(', ')} from ${source}`, values: values.list };
}

/** Prepends the date header of the row's day; the SQL twin of the domain's `withDateHeader` (a test compares). */
export const withDateHeaderSql = (day: string, log: string): string =>
  `'<h2 class="${DATE_HEADER_CLASS}">' || to_char(${day}, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2>' || ${log}`;

/**
 * Rows are one JSON parameter, so the text is the same for any number of rows. If the rows set no columns, the
 * columns of the primary key are written as null, and the database reports what is missing.
 */
export function insertSql(
  table: ExposedTable,
  query: Query,
  { columns, rows }: Rows,
  preferences: Preferences,
  userId: string,
): Sql {
  const values = new Values();
  const written = columns.length === 0 ? table.key : columns;
  // A row that omits a column has a marker instead: the column's name with a space before it.
  const omitted = columns.filter((_, index) => rows.some((row) => row[index] === undefined));
  const objects = rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name }, index) => (row[index] === undefined ? [` ${name}`, true] : [name, row[index]])),
    ),
  );
  const types = [
    ...written.map((column) => `${quoteColumn(column)} ${column.type}`),
    ...omitted.map(({ name }) => `" ${name}" boolean`),
  ];
  const source = `json_to_recordset(${values.add(JSON.stringify(objects))}::json) as sent(${types.join(', ')})`;
  const valueSql = (column: Column): string =>
    omitted.includes(column)
      ? `case when sent." ${column.name}" then ${column.defaultSql} else sent.${quoteColumn(column)} end`
      : sentValueSql(table, column, written);
  const insert =
    `insert into ${tableName(table)} (${quoteColumns(written)}) ` +
    `select ${written.map(valueSql).join(', ')} ` +
    `from ${source}${conflictSql(table, query, written, preferences.resolution)}`;
  const upsert = preferences.resolution === 'merge' ? { table, target: conflictTarget(table, query), userId } : null;
  return writeStatementSql(insert, query, preferences, values, { upsert, key: preferences.location ? table.key : [] });
}

/** `limitedTexts` as for `bodySql`. With `isOneRow` the query matches at most one row. */
export function updateSql(
  table: ExposedTable,
  query: Query,
  { columns, rows }: Rows,
  preferences: Preferences,
  { limitedTexts = [], isOneRow = false }: { limitedTexts?: readonly Column[]; isOneRow?: boolean } = {},
): Sql {
  const values = new Values();
  const parameters = new Map(
    columns.map((column, index) => {
      const value = rows[0]?.[index];
      return [column, value === undefined ? 'default' : `${values.add(value)}::${column.type}`];
    }),
  );
  const changes = columns.map((column) => {
    const value = parameters.get(column)!;
    if (column !== table.log?.content) return `${quoteColumn(column)} = ${value}`;
    return `${quoteColumn(column)} = ${withDateHeaderSql(parameters.get(table.log.day) ?? quoteColumn(table.log.day), value)}`;
  });
  const update = `update ${tableName(table)} set ${changes.join(', ')}${whereSql(query.where, values)}`;
  return writeStatementSql(update, query, preferences, values, { limitedTexts, isOneRow });
}

/** `limitedTexts` as for `bodySql`. */
export function deleteSql(
  table: ExposedTable,
  query: Query,
  preferences: Preferences,
  limitedTexts: readonly Column[] = [],
): Sql {
  const values = new Values();
  const text = `delete from ${tableName(table)}${whereSql(query.where, values)}`;
  return writeStatementSql(text, query, preferences, values, { limitedTexts });
}

function sentValueSql(table: ExposedTable, column: Column, written: readonly Column[]): string {
  const value = `sent.${quoteColumn(column)}`;
  if (column !== table.log?.content) return value;
  // Without a day, `sent` has no such column. With null instead, the database rejects the log with a clearer error.
  return withDateHeaderSql(
    written.includes(table.log.day) ? `sent.${quoteColumn(table.log.day)}` : 'null::date',
    value,
  );
}

const conflictTarget = (table: ExposedTable, query: Query): readonly Column[] =>
  query.onConflict?.length ? query.onConflict : table.key;

function conflictSql(
  table: ExposedTable,
  query: Query,
  written: readonly Column[],
  resolution: Preferences['resolution'],
) {
  if (resolution === null) return '';
  const target = conflictTarget(table, query);
  const on = ` on conflict (${quoteColumns(target)})`;
  if (resolution === 'ignore') return `${on} do nothing`;
  // The target columns are equal already, and setting them requires the UPDATE privilege on them. Without any other
  // column one target column is set, because `do update` needs an assignment.
  const rest = written.filter((column) => !target.includes(column));
  const set = (rest.length > 0 ? rest : target.slice(0, 1)).map(
    (column) => `${quoteColumn(column)} = excluded.${quoteColumn(column)}`,
  );
  return `${on} do update set ${set.join(', ')}`;
}

/** An upsert that reports how many of its rows it inserted. */
type CountedUpsert = { table: ExposedTable; target: readonly Column[]; userId: string };

type ReturnedParts = {
  upsert?: CountedUpsert | null;
  /** The primary key, if the first written row's is wanted; only without `representation`. */
  key?: readonly Column[];
  limitedTexts?: readonly Column[];
  isOneRow?: boolean;
};

/**
 * `returning` requires the privilege to read the row, so it is omitted unless the answer needs rows, a key or a count
 * of inserts.
 */
function writeStatementSql(
  write: string,
  query: Query,
  preferences: Preferences,
  values: Values,
  { upsert = null, key = [], limitedTexts = [], isOneRow = false }: ReturnedParts,
): Sql {
  if (!preferences.representation && !upsert && key.length === 0) return { text: write, values: values.list };
  // A single row is returned without an aggregate, which would cost PostgreSQL a twentieth of a save.
  if (isOneRow && query.order.length === 0 && query.range.limit === null && query.range.offset === 0) {
    const pairs = query.select.map((column) => `'${column.name}', ${quoteColumn(column)}`).join(', ');
    const item = preferences.omitsNulls
      ? `json_strip_nulls(json_build_object(${pairs}))`
      : `json_build_object(${pairs})`;
    return { text: `${write} returning ${item}::text as item`, values: values.list, returnsItems: true };
  }
  const returned = new Set([
    ...(preferences.representation ? returnedColumns(query) : []),
    ...(upsert?.target ?? []),
    ...key,
  ]);
  const inserted = upsert ? `, ${countInsertedSql(upsert, values)}` : '';
  const firstKey = key.length === 0 ? '' : ', (select to_json(written) from written limit 1) as "firstKey"';
  const written = `with written as (${write} returning ${quoteColumns([...returned])})`;
  if (!preferences.representation)
    return { text: `${written} select ${AMOUNT}${inserted}${firstKey} from written`, values: values.list };
  const page = `select ${quoteColumns(query.select)} from written${orderSql(query.order)}${rangeSql(query.range, values)}`;
  const { body, source } = bodySql(page, limitedTexts, preferences);
  return { text: `${written} select ${body}, ${AMOUNT}${inserted} from ${source}`, values: values.list };
}

const returnedColumns = (query: Query): Column[] => [...query.select, ...query.order.map((term: Order) => term.column)];

/** A row was inserted if the snapshot from before the statement has no row for it. */
function countInsertedSql({ table, target, userId }: CountedUpsert, values: Values): string {
  const same = target.map((column) => `earlier.${quoteColumn(column)} = written.${quoteColumn(column)}`);
  const ofUser = `earlier.${quoteColumn(table.user)} = ${values.add(userId)}`;
  return (
    `(select count(*) from written where not exists (select from ${tableName(table)} earlier ` +
    `where ${[ofUser, ...same].join(' and ')}))::int as inserted`
  );
}

// Builds SQL fragments: only constants and allow-listed names enter the text, all values become parameters.

/** `returnsItems`: the statement returns `Item` rows, not one `QueryResult`. */
export type Sql = { readonly text: string; readonly values: readonly unknown[]; readonly returnsItems?: true };

/** Collects the parameters of one statement. */
class Values {
  readonly list: unknown[] = [];

  add(value: unknown): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/** Safe because column names come only from `exposed-tables.ts`. */
const quoteColumn = (column: Column): string => `"${column.name}"`;
const quoteColumns = (columns: readonly Column[]): string => columns.map(quoteColumn).join(', ');
const tableName = (table: ExposedTable): string => `public."${table.name}"`;

const OPERATORS: Readonly<Record<Comparison, string>> = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'like',
  ilike: 'ilike',
  isdistinct: 'is distinct from',
};

const TRUTHS: Readonly<Record<Truth, string>> = {
  null: 'is null',
  not_null: 'is not null',
  true: 'is true',
  false: 'is false',
  unknown: 'is unknown',
};

function conditionSql(condition: Condition, values: Values): string {
  const sql = unnegatedSql(condition, values);
  return condition.negated ? `not (${sql})` : sql;
}

function unnegatedSql(condition: Condition, values: Values): string {
  switch (condition.kind) {
    case 'compare':
      return `${quoteColumn(condition.column)} ${OPERATORS[condition.operator]} ${values.add(condition.value)}`;
    case 'each': {
      const list = values.add(arrayLiteral(condition.values));
      return `${quoteColumn(condition.column)} ${OPERATORS[condition.operator]} ${condition.of} (${list})`;
    }
    case 'is':
      return `${quoteColumn(condition.column)} ${TRUTHS[condition.value]}`;
    case 'group':
      return `(${condition.conditions.map((inner) => conditionSql(inner, values)).join(` ${condition.joined} `)})`;
  }
}

/** One parameter for any number of items, so the statement's text stays the same and its plan is reused. */
const arrayLiteral = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

function whereSql(where: readonly Condition[], values: Values): string {
  return where.length === 0 ? '' : ` where ${where.map((condition) => conditionSql(condition, values)).join(' and ')}`;
}

function orderSql(order: readonly Order[]): string {
  if (order.length === 0) return '';
  const terms = order.map(
    ({ column, descending, nulls }) =>
      quoteColumn(column) + (descending ? ' desc' : '') + (nulls ? ` nulls ${nulls}` : ''),
  );
  return ` order by ${terms.join(', ')}`;
}
