import { setImmediate } from 'node:timers/promises';
import { dataError } from './errors.ts';
import type { ExposedTable, Column } from './exposed-tables.ts';
import type { Rows, WrittenValue, Condition } from './query.ts';
import type { SanitizeLog } from './sanitize-log.ts';

/**
 * How much to sanitize before yielding to the event loop: UTF-16 units of logs, some milliseconds of the parser. A
 * single log cannot be split, so the longest log bounds the delay of other requests.
 */
const CHUNK_LENGTH = 16_384;
/** The fixed cost of a row, in the same unit. */
const BASE_COST_PER_ROW = 64;

/**
 * Sanitizes logs and validates all other values: rejects U+0000, which PostgreSQL cannot store, and malformed dates.
 */
export async function sanitizeRows(
  table: ExposedTable,
  { columns, rows }: Rows,
  sanitize: SanitizeLog,
  yieldToEventLoop: () => Promise<unknown> = setImmediate,
): Promise<Rows> {
  const log = table.log === null ? -1 : columns.indexOf(table.log.content);
  const sanitized: WrittenValue[][] = [];
  let work = 0;
  for (const row of rows) {
    // Yield before the row that exceeds the chunk, not after: neither the last row nor a single one needs a yield.
    const cost = log === -1 ? BASE_COST_PER_ROW : BASE_COST_PER_ROW + String(row[log]).length;
    if (work > 0 && work + cost > CHUNK_LENGTH) {
      await yieldToEventLoop();
      work = 0;
    }
    work += cost;
    const values = row.map((value, index) => {
      if (index === log) return value;
      if (typeof value === 'string' && value.includes('\0')) {
        throw dataError('22P05', { details: '\\u0000 cannot be converted to text.' });
      }
      checkDate(columns[index]!, value);
      return value;
    });
    if (log !== -1 && row[log] !== null) values[log] = await sanitize(String(row[log]));
    sanitized.push(values);
  }
  return { columns, rows: sanitized };
}

// Accepts dates on the data API only as `YYYY-MM-DD` (docs/specification/api.md 19).
//
// PostgreSQL also accepts `yesterday`, `now`, `20260101` and `January 8, 1999`. The meaning of such forms can depend on
// the session's time zone and DateStyle, so one request could mean different days, and a typo could become a valid day.

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws 22007. PostgreSQL checks that the day exists and has a separate code for that. */
function checkDate({ type }: Column, value: WrittenValue): void {
  if (type !== 'date' || value === null || value === undefined || (typeof value === 'string' && DATE.test(value)))
    return;
  throw dataError('22007', { message: `invalid input syntax for type date: "${String(value).slice(0, 100)}"` });
}

/** Checks the values of filters. Patterns are left to PostgreSQL, which rejects `like` on a date. */
export function checkDates(conditions: readonly Condition[]): void {
  for (const condition of conditions) {
    if (condition.kind === 'group') checkDates(condition.conditions);
    else if (condition.kind === 'is' || condition.operator === 'like' || condition.operator === 'ilike') continue;
    else if (condition.kind === 'each') for (const value of condition.values) checkDate(condition.column, value);
    else checkDate(condition.column, condition.value);
  }
}
