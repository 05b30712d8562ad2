/**
 * How many workdays of a period somebody has accounted for. It stands in place of a streak: one missed day takes nothing
 * away that was done. A workday is Monday to Friday; any log accounts for it, a quick entry such as "I am sick" as well.
 */
import { addDays, earlierOf, weekdayOf } from './day.ts';
import type { Day } from './day.ts';

export type Workdays = { accounted: number; workdays: number };

const isWorkday = (of: Day): boolean => !['Saturday', 'Sunday'].includes(weekdayOf(of));

/** Of the days from `from` to `to`, without those after `today`; `logged` are the days that have a log. */
export function workdaysOf(from: Day, to: Day, today: Day, logged: ReadonlySet<Day>): Workdays {
  const last = earlierOf(to, today);
  let workdays = 0;
  let accounted = 0;
  for (let date = from; date <= last; date = addDays(date, 1)) {
    if (!isWorkday(date)) continue;
    workdays += 1;
    if (logged.has(date)) accounted += 1;
  }
  return { accounted, workdays };
}

/** `21 of 22 workdays accounted for`. */
export const workdaysText = ({ accounted, workdays }: Workdays): string =>
  `${accounted} of ${workdays} ${workdays === 1 ? 'workday' : 'workdays'} accounted for`;
