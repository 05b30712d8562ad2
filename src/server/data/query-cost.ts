/**
 * Limits the cost of queries, and selects the queries that go through a concurrency limiter.
 *
 * Threat: denial of service by a cheap request. Any account can make the database compare a month of full logs with
 * thousands of patterns, sort them by text, or return all of them; a year of analyses is as long. A few concurrent
 * queries of this kind would delay every save.
 */
import { dataError } from './errors.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import type { Comparison, Condition, Order, Query, Range } from './query.ts';

/** Operators that may scan the whole text. `eq` does not belong here, because it compares the lengths first. */
const SCANNING_OPERATORS: ReadonlySet<Comparison> = new Set(['like', 'ilike', 'gt', 'gte', 'lt', 'lte']);
const MAX_TEXT_COMPARISONS = 10;
/** Limits the sum of a query's compared texts: matching takes time proportional to log length times pattern length. */
const MAX_PATTERN_LENGTH = 200;

/**
 * More comparisons make a read costly. Each row is compared with every value: 3,650 days with 4,000 numbers took half a
 * second.
 */
const MAX_COMPARISONS = 100;
/** The most comparisons of a quick read (`isQuickRead`). */
const MAX_QUICK_COMPARISONS = 10;
/**
 * A quick read of many rows has no more columns: all short columns of 3,650 days took eight times as long as their
 * dates.
 */
const MAX_QUICK_COLUMNS = 2;

/** The maximum number of rows in one response, of a table with long texts other than logs. No screen needs more. */
const MAX_LONG_TEXT_ROWS = 100;
/**
 * The maximum number of rows in any other response: the first for at most `MAX_QUICK_COLUMNS` dates and integers of
 * each row, the second for more columns. Threat: a plan opens 740,000 days since the year 1, of which one response
 * would take 200 MB. A journal of 40,000 days, the largest that can be imported, still shows all of its dates.
 */
const MAX_NARROW_ROWS = 50_000;
const MAX_WIDE_ROWS = 10_000;

/**
 * Throws PGRST100 for a query with more text comparisons, or longer patterns, than a search needs, and for a query that
 * scans or orders by long texts other than logs.
 */
export function rejectCostlyQuery(table: ExposedTable, query: Query): void {
  if (table.log === null && scansLongTexts(table, query)) {
    throw dataError('PGRST100', { details: `the texts of ${table.name} cannot be filtered or ordered by` });
  }
  const comparisons = query.where.flatMap(textComparisons);
  if (comparisons.length > MAX_TEXT_COMPARISONS) {
    throw dataError('PGRST100', { details: `more than ${MAX_TEXT_COMPARISONS} comparisons of texts` });
  }
  if (comparisons.reduce((sum, { text }) => sum + text.length, 0) > MAX_PATTERN_LENGTH) {
    throw dataError('PGRST100', { details: `more than ${MAX_PATTERN_LENGTH} characters to compare texts with` });
  }
}

type TextComparison = { column: Column; text: string };

function textComparisons(condition: Condition): readonly TextComparison[] {
  switch (condition.kind) {
    case 'group':
      return condition.conditions.flatMap(textComparisons);
    case 'compare':
      return isTextScan(condition) ? [{ column: condition.column, text: condition.value }] : [];
    case 'each':
      return isTextScan(condition) ? condition.values.map((text) => ({ column: condition.column, text })) : [];
    case 'is':
      return [];
  }
}

const isTextScan = ({ column, operator }: { column: Column; operator: Comparison }): boolean =>
  column.type === 'text' && SCANNING_OPERATORS.has(operator);

/**
 * Whether the read goes through the limiter for costly reads.
 *
 * @param total whether the read also counts the rows
 */
export const isCostlyRead = (table: ExposedTable, query: Query, total: boolean): boolean =>
  sum(query.where.map(comparisonsOf)) > MAX_COMPARISONS ||
  readsManyLongTexts(table, query) ||
  readsManyDays(table, query, total);

/**
 * Whether the read does more with the rows of many days than list a date and a number of each. Threat: ids and times of
 * 10,000 days are a megabyte of JSON, and 40,000 dates that are sorted or counted take as long. A few such reads at
 * once delayed a read of another user by most of a second. True also for every read of a computed view.
 */
function readsManyDays(table: ExposedTable, query: Query, total: boolean): boolean {
  if (table.isComputed) return true;
  const hasRowOfEachDay = table.key.some(({ name }) => name === 'date');
  const isList = isNarrow(query) && isKeyOrder(table, query.order) && !total;
  return hasRowOfEachDay && !isList && !readsOneRow(table, query) && !query.where.some(isDayFilter);
}

/**
 * Whether the read may share a connection with other reads, which then wait for it
 * (database/connection/share-connections.ts): it must return one row, or at most `MAX_QUICK_COLUMNS` dates and integers
 * of each row in the order of the key.
 *
 * @param total whether the read also counts the rows
 */
export function isQuickRead(table: ExposedTable, query: Query, total: boolean): boolean {
  if (total || table.isComputed || isCostlyRead(table, query, total)) return false;
  if (sum(query.where.map(comparisonsOf)) > MAX_QUICK_COMPARISONS) return false;
  return readsOneRow(table, query) || (isNarrow(query) && isKeyOrder(table, query.order));
}

const isNarrow = ({ select }: Query): boolean => select.length <= MAX_QUICK_COLUMNS && select.every(isDayOrNumber);

/** Times and ids of 3,650 days took six times as long as their dates, because they are longer to write and to sort. */
const isDayOrNumber = ({ type }: Column): boolean => type === 'date' || type === 'integer';

/** How many values each row is compared with. */
function comparisonsOf(condition: Condition): number {
  if (condition.kind === 'group') return sum(condition.conditions.map(comparisonsOf));
  return condition.kind === 'each' ? condition.values.length : 1;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/**
 * Whether the query may return long texts of more than one row, or scans or orders by long texts: ten patterns in a
 * full log take as long as twenty saves. Opening a day reads one row; an export reads the texts of all days.
 */
function readsManyLongTexts(table: ExposedTable, query: Query): boolean {
  if (table.longTexts.size === 0) return false;
  return scansLongTexts(table, query) || longTextsOfManyRows(table, query).length > 0;
}

/**
 * The columns of a table with logs whose sum of bytes is limited. Other tables' texts are limited by the number of
 * rows.
 */
export const limitedTexts = (table: ExposedTable, query: Query): readonly Column[] =>
  table.log === null ? [] : longTextsOfManyRows(table, query);

const longTextsOfManyRows = (table: ExposedTable, query: Query): readonly Column[] =>
  readsOneRow(table, query) ? [] : query.select.filter((column) => table.longTexts.has(column));

/** Whether PostgreSQL reads one row of the table, by its key or as the first one of an index. */
function readsOneRow(table: ExposedTable, { where, order, range }: Query): boolean {
  if (table.isComputed) return false;
  if (where.some((condition) => isSingleRowFilter(condition, table.log?.day))) return true;
  // Threat: with another order or an offset, a query with a limit of one row may still read and sort all of them.
  return range.limit === 1 && range.offset === 0 && (isKeyOrder(table, order) || isOrderOfDay(table, where, order));
}

const isOrderOfDay = ({ orderOfDay }: ExposedTable, where: readonly Condition[], order: readonly Order[]): boolean =>
  order.every(({ column, nulls }) => column === orderOfDay && nulls === null) && where.some(isDayFilter);

/** Whether the order is that of the primary key, whose first column, the user, has one value. */
function isKeyOrder({ key, user }: ExposedTable, order: readonly Order[]): boolean {
  const rest = key.filter((column) => column !== user);
  const terms = order.filter(({ column }) => column !== user);
  return terms.every(
    ({ column, descending, nulls }, index) =>
      column === rest[index] && descending === terms[0]!.descending && nulls === null,
  );
}

/**
 * Whether the query may write more than one row of a table with long texts, or scans or orders by such texts: one PATCH
 * can overwrite every day of a journal with a full log. The journal's own saves name one row.
 */
export const writesManyLongTexts = (table: ExposedTable, query: Query): boolean =>
  table.longTexts.size > 0 &&
  (scansLongTexts(table, query) || !query.where.some((condition) => isSingleRowFilter(condition, table.log?.day)));

/** In UTF-16 units: about five thousand words, more than a day's log usually has. */
export const BULK_BODY_LENGTH = 32 * 1024;

/** Whether the body may contain many rows or is long; such writes go through the bulk limiter. */
export const isBulk = (body: string): boolean => body.length > BULK_BODY_LENGTH || /^\s*\[/.test(body);

/**
 * Caps the rows of a read, like PostgREST's `db-max-rows`. Logs have no low cap as other long texts have, because an
 * export reads all of them; the size of their texts is limited instead (`limitedTexts`).
 */
export function limitRange(table: ExposedTable, query: Query): Range {
  const { range } = query;
  if (readsOneRow(table, query)) return range;
  const max = maxRows(table, query);
  return { ...range, limit: Math.min(range.limit ?? max, max) };
}

function maxRows({ log, longTexts }: ExposedTable, query: Query): number {
  if (log === null && longTexts.size > 0) return MAX_LONG_TEXT_ROWS;
  return isNarrow(query) ? MAX_NARROW_ROWS : MAX_WIDE_ROWS;
}

/**
 * Whether the query orders by long texts or compares them, so PostgreSQL may read them in all rows: `in` hashes each of
 * them, and `eq` reads those of the same length. A check for null reads a text only if a view computes it.
 */
function scansLongTexts({ longTexts, isComputed }: ExposedTable, { where, order }: Query): boolean {
  const comparedColumns = (condition: Condition): readonly Column[] => {
    if (condition.kind === 'group') return condition.conditions.flatMap(comparedColumns);
    return condition.kind === 'is' && !isComputed ? [] : [condition.column];
  };
  return [...where.flatMap(comparedColumns), ...order.map(({ column }) => column)].some((column) =>
    longTexts.has(column),
  );
}

const isSingleRowFilter = (condition: Condition, day: Column | undefined): boolean =>
  isEqual(condition) && (condition.column === day || condition.column.name === 'id');

const isDayFilter = (condition: Condition): boolean => isEqual(condition) && condition.column.name === 'date';

const isEqual = (condition: Condition): condition is Condition & { kind: 'compare' } =>
  condition.kind === 'compare' && condition.operator === 'eq' && !condition.negated;
