import { setImmediate } from 'node:timers/promises';
import { checkDate } from './check-dates.ts';
import type { SanitizeLog } from './sanitize-log.ts';
import { dataError } from '../errors.ts';
import type { ExposedTable } from '../exposed-tables.ts';
import type { Rows, WrittenValue } from '../query.ts';

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
