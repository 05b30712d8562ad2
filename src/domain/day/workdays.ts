/**
 * Counts the workdays of a period that have a log. The product shows this instead of a streak, so that one missed day
 * does not reset the count. Any log on a workday counts, including a quick entry such as "I am sick"; a day off is no
 * workday (time-off.ts).
 */
import { addDays, earlierOf, type Day } from './day.ts';
import { isWorkday, type TimeOff } from './time-off.ts';

export type Workdays = { accounted: number; workdays: number };

/**
 * `from` and `to` are inclusive. Days after `today` and days before the first log don't count: nobody misses a day before
 * they begin.
 */
export function countWorkdays(
  from: Day,
  to: Day,
  today: Day,
  logged: ReadonlySet<Day>,
  { timeOff, workdays: weekdays }: { timeOff: readonly TimeOff[]; workdays: readonly number[] },
): Workdays {
  const first = [...logged].reduce<Day | null>((earliest, date) => (earliest ? earlierOf(earliest, date) : date), null);
  if (first === null) return { accounted: 0, workdays: 0 };
  const last = earlierOf(to, today);
  let workdays = 0;
  let accounted = 0;
  for (let date = first > from ? first : from; date <= last; date = addDays(date, 1)) {
    if (!isWorkday(timeOff, weekdays, date)) continue;
    workdays += 1;
    if (logged.has(date)) accounted += 1;
  }
  return { accounted, workdays };
}

/** `21 of 22 workdays accounted for`. */
export const workdaysText = ({ accounted, workdays }: Workdays): string =>
  workdays === 0
    ? 'No workdays yet'
    : `${accounted} of ${workdays} ${workdays === 1 ? 'workday' : 'workdays'} accounted for`;
