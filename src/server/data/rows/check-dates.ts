/**
 * A date on the data wire is `YYYY-MM-DD` and nothing else (docs/specification/wire.md 19).
 *
 * PostgreSQL also reads `yesterday`, `now`, `20260101` and `January 8, 1999`. Those depend on the session's zone and style,
 * so one request would mean different days, and a typing error could become a real day.
 */
import { dataError } from '../errors.ts';
import type { Column } from '../exposed-tables.ts';
import type { Condition, Scalar } from '../query.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws 22007. Whether the calendar has such a day is left to PostgreSQL, which has a code of its own for that. */
export function checkDate({ type }: Column, value: Scalar): void {
  if (type !== 'date' || value === null || (typeof value === 'string' && DATE.test(value))) return;
  throw dataError('22007', { message: `invalid input syntax for type date: "${String(value).slice(0, 100)}"` });
}

/** The same for the values of filters. A pattern is left to PostgreSQL, which answers that a date has no `like`. */
export function checkDates(conditions: readonly Condition[]): void {
  for (const condition of conditions) {
    if (condition.kind === 'group') checkDates(condition.conditions);
    else if (condition.kind === 'is' || condition.operator === 'like' || condition.operator === 'ilike') continue;
    else if (condition.kind === 'each') for (const value of condition.values) checkDate(condition.column, value);
    else checkDate(condition.column, condition.value);
  }
}
