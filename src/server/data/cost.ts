/**
 * What a query may cost, and which queries take turns.
 *
 * Threat: anybody may have an account, and a short request can make the database compare a month of full logs with
 * thousands of patterns, or write all of them out. A few of those at once would keep every save waiting.
 */
import { dataError } from './errors.ts';
import type { Column, ExposedTable } from './exposed-tables.ts';
import type { Comparison, Condition, Query } from './query.ts';

/** Each makes the database read a log from its first letter to its last. `eq` looks at the lengths first. */
const READS_WHOLE_TEXT: ReadonlySet<Comparison> = new Set(['like', 'ilike', 'gt', 'gte', 'lt', 'lte']);
const MAX_TEXT_COMPARISONS = 10;
/** The time for one log is its length times that of the pattern. */
const MAX_PATTERN_LENGTH = 200;

/** Throws PGRST100 for a query that would search texts more often, or for more, than a person would. */
export function refuseCostly({ where }: Query): void {
  const sought = where.flatMap(textsSought);
  if (sought.length > MAX_TEXT_COMPARISONS) {
    throw dataError('PGRST100', { details: `more than ${MAX_TEXT_COMPARISONS} comparisons of texts` });
  }
  if (sought.reduce((sum, text) => sum + text.length, 0) > MAX_PATTERN_LENGTH) {
    throw dataError('PGRST100', { details: `more than ${MAX_PATTERN_LENGTH} characters to compare texts with` });
  }
}

function textsSought(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'group':
      return condition.conditions.flatMap(textsSought);
    case 'compare':
      return readsWholeText(condition) ? [condition.value] : [];
    case 'each':
      return readsWholeText(condition) ? condition.values : [];
    case 'is':
      return [];
  }
}

const readsWholeText = ({ column, operator }: { column: Column; operator: Comparison }): boolean =>
  column.type === 'text' && READS_WHOLE_TEXT.has(operator);

/** Goes through the texts of more than one log. The journal's own screens never do: they read one day, or only dates. */
export function readsManyLogs(table: ExposedTable, { select, where }: Query): boolean {
  const { log } = table;
  if (log === null || where.some((condition) => namesOneRow(condition, log.day))) return false;
  return select.some((column) => column.type === 'text') || where.flatMap(textsSought).length > 0;
}

const namesOneRow = (condition: Condition, day: Column): boolean =>
  condition.kind === 'compare' &&
  condition.operator === 'eq' &&
  !condition.negated &&
  (condition.column === day || condition.column.name === 'id');
