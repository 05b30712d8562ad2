/**
 * What a query may cost, and which queries take limiter.
 *
 * Threat: anybody may have an account, and a short request can make the database compare a month of full logs with
 * thousands of patterns, put them in order by their words, or write all of them out; and what the coach said in a year is
 * as long. A few of those at once would keep every save waiting.
 */
import { dataError } from './errors.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import type { Comparison, Condition, Query, Range } from './query.ts';

/** Each makes the database read a log from its first letter to its last. `eq` looks at the lengths first. */
const SCANNING_OPERATORS: ReadonlySet<Comparison> = new Set(['like', 'ilike', 'gt', 'gte', 'lt', 'lte']);
const MAX_TEXT_COMPARISONS = 10;
/** The time for one log is its length times that of the pattern. */
const MAX_PATTERN_LENGTH = 200;

/** What the coach said is asked for by its day. No screen needs more of it at once, or searches it. */
const MAX_LONG_TEXT_ROWS = 100;

/** Throws PGRST100 for a query that would search texts more often, or for more, than a person would. */
export function rejectCostlyQuery(table: ExposedTable, query: Query): void {
  if (table.log === null && scansLongTexts(table, query)) {
    throw dataError('PGRST100', { details: `the texts of ${table.name} can be read, not searched or ordered by` });
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
 * Shows the texts of more than one row, or searches even one: ten patterns in a full log take as long as twenty saves. The
 * product's own screens do neither: they read one day, or only dates.
 */
export function readsManyLongTexts(table: ExposedTable, query: Query): boolean {
  const { log, longTexts } = table;
  if (longTexts.size === 0) return false;
  if (scansLongTexts(table, query)) return true;
  if (query.where.some((condition) => isSingleRowFilter(condition, log?.day))) return false;
  return query.range.limit !== 1 && query.select.some((column) => longTexts.has(column));
}

/**
 * Writes the texts of more than one row, or searches texts for the rows to write: one log can be put over every day of a
 * journal, and each is stored in full. The journal's own saves name one row.
 */
export const writesManyLongTexts = (table: ExposedTable, query: Query): boolean =>
  table.longTexts.size > 0 &&
  (scansLongTexts(table, query) || !query.where.some((condition) => isSingleRowFilter(condition, table.log?.day)));

/** In UTF-16 units: five thousand words, more than people write in a day. */
const BULK_BODY_LENGTH = 32 * 1024;

/** The body of a write that takes limiter: it may hold many rows, or is long. */
export const isBulk = (body: string): boolean => body.length > BULK_BODY_LENGTH || /^\s*\[/.test(body);

/** The rows that a reading is given at most, as PostgREST's `db-max-rows` has it. Logs are not cut: an export reads them all. */
export function limitRange({ log, longTexts }: ExposedTable, range: Range): Range {
  if (log !== null || longTexts.size === 0) return range;
  return { ...range, limit: Math.min(range.limit ?? MAX_LONG_TEXT_ROWS, MAX_LONG_TEXT_ROWS) };
}

/** Whatever is shown in the end, texts of all the rows are read for it. */
const scansLongTexts = ({ longTexts }: ExposedTable, { where, order }: Query): boolean =>
  [...where.flatMap(textComparisons), ...order].some(({ column }) => longTexts.has(column));

const isSingleRowFilter = (condition: Condition, day: Column | undefined): boolean =>
  condition.kind === 'compare' &&
  condition.operator === 'eq' &&
  !condition.negated &&
  (condition.column === day || condition.column.name === 'id');
