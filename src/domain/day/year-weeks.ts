import { addDays, type Day } from './day.ts';
import { weekStartOf, type WeekStart } from './month.ts';

const WEEKS = 53;

/** The grid of a year's calendar heat map: one row per weekday, one column per week; null after today. */
export function yearRows(today: Day, weekStart: WeekStart): (Day | null)[][] {
  const first = addDays(weekStartOf(today, weekStart), -7 * (WEEKS - 1));
  return Array.from({ length: 7 }, (_weekday, row) =>
    Array.from({ length: WEEKS }, (_week, column) => {
      const date = addDays(first, column * 7 + row);
      return date <= today ? date : null;
    }),
  );
}
