/** Puts the texts of a write into the form in which they may be stored, before any of them reaches the database. */
import { setImmediate } from 'node:timers/promises';
import { checkDate } from './check-dates.ts';
import type { SanitizeLog } from './sanitize-log.ts';
import { dataError } from '../errors.ts';
import type { ExposedTable } from '../exposed-tables.ts';
import type { Rows, Scalar } from '../query.ts';

/**
 * How much is cleaned before other requests get the event loop: in UTF-16 units of logs, some milliseconds of the parser.
 * A log cannot be cleaned in parts, so one that is longer is the longest that anybody waits.
 */
const CHUNK_LENGTH = 16_384;
/** What a log costs before its first character. */
const BASE_COST_PER_ROW = 64;

/** Logs are cleaned; every other text is refused when it holds U+0000, which PostgreSQL cannot store, and a date in another form. */
export async function sanitizeRows(
  table: ExposedTable,
  { columns, rows }: Rows,
  clean: SanitizeLog,
  /** Lets everything run that waits for the event loop. */
  yieldToEventLoop: () => Promise<unknown> = setImmediate,
): Promise<Rows> {
  const log = table.log === null ? -1 : columns.indexOf(table.log.content);
  const cleaned: Scalar[][] = [];
  let work = 0;
  for (const row of rows) {
    // Before the log that fills a chunk and not after it: the last one needs no yield, and a single one none at all.
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
    if (log !== -1 && row[log] !== null) values[log] = await clean(String(row[log]));
    cleaned.push(values);
  }
  return { columns, rows: cleaned };
}
