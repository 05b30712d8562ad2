/**
 * A query, written as ONE statement that answers one row: the JSON text of the result and how many rows it holds.
 * PostgreSQL builds the JSON, so nothing parses rows only to write them out again. Pure; the same shape of query gives
 * the same text, which the database plans once.
 */
import { DATE_HEADER_CLASS } from '#domain/log/entry-html.ts';
import type { Column, ExposedTable } from '../exposed-tables.ts';
import type { Order, Preferences, Query, Range, Rows } from '../query.ts';
import { quoteColumns, quoteColumn, orderSql, tableName, Values, whereSql } from './sql-text.ts';
import type { Sql } from './sql-text.ts';

/** What every statement answers. Columns that a statement has no use for are left out. */
export type QueryResult = {
  /** A JSON array. */
  body?: string;
  /** Rows in the body, or rows that it would have. */
  amount: number;
  /** Rows that match without limit and offset. */
  total?: number;
  /** Rows that an upsert added. */
  inserted?: number;
};

const BODY = `coalesce(json_agg(page), '[]')::text as body`;
const AMOUNT = 'count(*)::int as amount';

function rangeSql({ limit, offset }: Range, values: Values): string {
  return (limit === null ? '' : ` limit ${values.add(limit)}`) + (offset === 0 ? '' : ` offset ${values.add(offset)}`);
}

/** `wanted.body` is false for HEAD: the rows are counted and not read. */
export function selectSql(table: ExposedTable, query: Query, wanted: { body: boolean; total: boolean }): Sql {
  const values = new Values();
  const where = whereSql(query.where, values);
  const from = `from ${tableName(table)}${where}`;
  const page = wanted.body
    ? `select ${quoteColumns(query.select)} ${from}${orderSql(query.order)}${rangeSql(query.range, values)}`
    : `select ${from}${rangeSql(query.range, values)}`;
  const answer = [...(wanted.body ? [BODY] : []), AMOUNT];
  // The same parameters again: the total must be counted under exactly the filters of the page.
  if (wanted.total) answer.push(`(select count(*) ${from})::int as total`);
  return { text: `select ${answer.join(', ')} from (${page}) page`, values: values.list };
}

/** The day's label before the log, from the row's own day: `dayLabel` of the domain, said in SQL (a test compares). */
export const withDateHeaderSql = (day: string, log: string): string =>
  `'<h2 class="${DATE_HEADER_CLASS}">' || to_char(${day}, 'FMDay - FMMonth FMDD, FMYYYY') || '</h2>' || ${log}`;

/**
 * Rows go in as one JSON parameter, so that one text serves any number of them. Without any column the key is written
 * as null, and the database says what is missing.
 */
export function insertSql(table: ExposedTable, query: Query, { columns, rows }: Rows, wanted: Preferences): Sql {
  const values = new Values();
  const written = columns.length === 0 ? table.key : columns;
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column.name, row[index]])));
  const types = written.map((column) => `${quoteColumn(column)} ${column.type}`).join(', ');
  const source = `json_to_recordset(${values.add(JSON.stringify(objects))}::json) as sent(${types})`;
  const insert =
    `insert into ${tableName(table)} (${quoteColumns(written)}) ` +
    `select ${written.map((column) => sentValueSql(table, column, written)).join(', ')} ` +
    `from ${source}${conflictSql(table, query, written, wanted.resolution)}`;
  return writeStatementSql(insert, query, wanted, values);
}

export function updateSql(table: ExposedTable, query: Query, { columns, rows }: Rows, wanted: Preferences): Sql {
  const values = new Values();
  const parameters = new Map(
    columns.map((column, index) => [column, `${values.add(rows[0]?.[index])}::${column.type}`]),
  );
  const changes = columns.map((column) => {
    const value = parameters.get(column)!;
    if (column !== table.log?.content) return `${quoteColumn(column)} = ${value}`;
    return `${quoteColumn(column)} = ${withDateHeaderSql(parameters.get(table.log.day) ?? quoteColumn(table.log.day), value)}`;
  });
  const update = `update ${tableName(table)} set ${changes.join(', ')}${whereSql(query.where, values)}`;
  return writeStatementSql(update, query, wanted, values);
}

export function deleteSql(table: ExposedTable, query: Query, wanted: Preferences): Sql {
  const values = new Values();
  return writeStatementSql(`delete from ${tableName(table)}${whereSql(query.where, values)}`, query, wanted, values);
}

function sentValueSql(table: ExposedTable, column: Column, written: readonly Column[]): string {
  const value = `sent.${quoteColumn(column)}`;
  if (column !== table.log?.content) return value;
  // A log without a day is refused by the database, which says so better than a missing column would.
  return withDateHeaderSql(
    written.includes(table.log.day) ? `sent.${quoteColumn(table.log.day)}` : 'null::date',
    value,
  );
}

function conflictSql(
  table: ExposedTable,
  query: Query,
  written: readonly Column[],
  resolution: Preferences['resolution'],
) {
  if (resolution === null) return '';
  const target = query.onConflict?.length ? query.onConflict : table.key;
  const on = ` on conflict (${quoteColumns(target)})`;
  if (resolution === 'ignore') return `${on} do nothing`;
  // The target is equal already; naming it again would ask for the right to change it.
  const rest = written.filter((column) => !target.includes(column));
  const set = (rest.length > 0 ? rest : target.slice(0, 1)).map(
    (column) => `${quoteColumn(column)} = excluded.${quoteColumn(column)}`,
  );
  return `${on} do update set ${set.join(', ')}`;
}

/** `returning` needs the right to read the row, so it is left out where nobody asked for the row. */
function writeStatementSql(write: string, query: Query, wanted: Preferences, values: Values): Sql {
  const merging = wanted.resolution === 'merge';
  if (!wanted.representation && !merging) return { text: write, values: values.list };
  // A fresh row version that no transaction has replaced: how PostgreSQL tells an insert from a conflict's update.
  const returned = [
    ...(wanted.representation ? returnedColumns(query) : []),
    ...(merging ? ['(xmax = 0) as inserted'] : []),
  ];
  const inserted = merging ? ', (select count(*) from written where inserted)::int as inserted' : '';
  const answer = wanted.representation
    ? `select ${BODY}, ${AMOUNT}${inserted} from (select ${quoteColumns(query.select)} from written` +
      `${orderSql(query.order)}${rangeSql(query.range, values)}) page`
    : `select ${AMOUNT}${inserted} from written`;
  return { text: `with written as (${write} returning ${returned.join(', ')}) ${answer}`, values: values.list };
}

const returnedColumns = (query: Query): string[] => [
  ...new Set([...query.select, ...query.order.map((term: Order) => term.column)].map(quoteColumn)),
];
