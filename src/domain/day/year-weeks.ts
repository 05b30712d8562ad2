import { addDays, WEEKDAYS, weekdayOf } from './day.ts';
import type { Day } from './day.ts';

const WEEKS = 53;

/** The grid of a year's calendar heat map: one row per weekday, Sunday first, one column per week; null after today. */
export function yearRows(today: Day): (Day | null)[][] {
  const sunday = addDays(today, -WEEKDAYS.indexOf(weekdayOf(today)));
  const first = addDays(sunday, -7 * (WEEKS - 1));
  return WEEKDAYS.map((_name, row) =>
    Array.from({ length: WEEKS }, (_week, column) => {
      const date = addDays(first, column * 7 + row);
      return date <= today ? date : null;
    }),
  );
}
