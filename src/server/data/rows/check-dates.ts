/**
 * Accepts dates on the data wire only as `YYYY-MM-DD` (docs/specification/wire.md 19).
 *
 * PostgreSQL also accepts `yesterday`, `now`, `20260101` and `January 8, 1999`. The meaning of such forms can depend on
 * the session's time zone and DateStyle, so one request could mean different days, and a typo could become a valid day.
 */
import { dataError } from '../errors.ts';
import type { Column } from '../exposed-tables.ts';
import type { Condition, WrittenValue } from '../query.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws 22007. PostgreSQL checks that the day exists and has a separate code for that. */
export function checkDate({ type }: Column, value: WrittenValue): void {
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
