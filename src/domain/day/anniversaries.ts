/** The earlier day of which an empty page reminds its writer (docs/specification/year.md 3). */
import { addYears, type Day } from './day.ts';
import { inMonth, monthOf } from './month.ts';

export type Anniversary = { date: Day; label: string };

/**
 * The nearest of one month, one year and more years before `today` that has a log; null without one. The last day of a
 * month stands for a day that the month does not have.
 */
export function nearestAnniversary(today: Day, logged: readonly Day[]): Anniversary | null {
  const dates = new Set(logged);
  const earliest = logged.reduce<Day | null>((first, date) => (first === null || date < first ? date : first), null);
  if (earliest === null || today < '0002') return null;
  const monthAgo = inMonth(today, monthOf(today) - 1);
  if (dates.has(monthAgo)) return { date: monthAgo, label: 'A month ago' };
  for (let years = 1, date = addYears(today, -1); date >= earliest; years += 1, date = addYears(today, -years)) {
    if (dates.has(date)) return { date, label: years === 1 ? 'A year ago' : `${years} years ago` };
  }
  return null;
}
