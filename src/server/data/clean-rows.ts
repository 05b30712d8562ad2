/** Puts the texts of a write into the form in which they may be stored, before any of them reaches the database. */
import { setImmediate } from 'node:timers/promises';
import { cleanLog } from './clean-entry.ts';
import { dataError } from './errors.ts';
import type { ExposedTable } from './exposed-tables.ts';
import type { Rows, Scalar } from './query.ts';

/** Cleaning a large log can take tens of milliseconds; between two of them the other requests have their turn. */
const LARGE_LOG = 16_384;

/** Logs are cleaned; every other text is refused when it holds U+0000, which PostgreSQL cannot store. */
export async function cleanRows(table: ExposedTable, { columns, rows }: Rows): Promise<Rows> {
  const log = table.log === null ? -1 : columns.indexOf(table.log.content);
  const cleaned: Scalar[][] = [];
  for (const row of rows) {
    const values = row.map((value, index) => {
      if (index === log && value !== null) return cleanLog(String(value));
      if (typeof value === 'string' && value.includes('\0')) {
        throw dataError('22P05', { details: '\\u0000 cannot be converted to text.' });
      }
      return value;
    });
    cleaned.push(values);
    const size = log === -1 ? 0 : String(row[log]).length;
    if (size > LARGE_LOG && rows.length > 1) await setImmediate();
  }
  return { columns, rows: cleaned };
}
