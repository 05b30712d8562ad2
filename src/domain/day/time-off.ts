/**
 * Time off and workdays: a day in a range that the user has marked is neither worked nor missed, whether or not it has
 * a log (docs/specification/time-off.md 2). Ranges include their first and last day.
 */
import { addDays, daysBetween, weekdayOf, WEEKDAYS, earlierOf, type Day } from './day.ts';

export type TimeOff = { readonly first_day: Day; readonly last_day: Day };

/** Monday to Friday. The numbers are those of `preferences.workdays`: 0 is Sunday. */
export const DEFAULT_WORKDAYS: readonly number[] = [1, 2, 3, 4, 5];

/** The constraint `time_off_length` has the same limit. */
const MAX_RANGE_DAYS = 3_653;
/** The trigger `merge_time_off` has the same limit. */
export const MAX_TIME_OFF_RANGES = 500;

export const isTimeOff = (ranges: readonly TimeOff[], date: Day): boolean =>
  ranges.some(({ first_day, last_day }) => first_day <= date && date <= last_day);

/** True for a day on which work is expected. */
export const isWorkday = (ranges: readonly TimeOff[], workdays: readonly number[], date: Day): boolean =>
  workdays.includes(WEEKDAYS.indexOf(weekdayOf(date))) && !isTimeOff(ranges, date);

/** Why the typed days are not a range of time off; null for a valid range. */
export function checkTimeOff(first: Day, last: Day): 'ends-early' | 'too-long' | null {
  if (last < first) return 'ends-early';
  return daysBetween(first, last) < MAX_RANGE_DAYS ? null : 'too-long';
}

/** The parts of ranges that lie in a period, oldest first. */
export const timeOffBetween = (ranges: readonly TimeOff[], from: Day, to: Day): TimeOff[] =>
  ranges
    .filter(({ first_day, last_day }) => first_day <= to && last_day >= from)
    .map(({ first_day, last_day }) => ({
      first_day: first_day > from ? first_day : from,
      last_day: last_day < to ? last_day : to,
    }))
    .sort((a, b) => (a.first_day < b.first_day ? -1 : 1));

// Counts the workdays of a period that have a log. The product shows this instead of a streak, so that one missed day
// does not reset the count. Any log on a workday counts, including a quick entry such as "I am sick"; a day off is not
// a workday.

export type Workdays = { accounted: number; workdays: number };

/**
 * `from` and `to` are inclusive. Days before the first log, days after `today`, and today without a log don't count: a
 * user cannot miss a day before starting, or before the day is over.
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
    const isLogged = logged.has(date);
    if (isLogged) accounted += 1;
    if (isLogged || date !== today) workdays += 1;
  }
  return { accounted, workdays };
}

/** `21 of 22 workdays accounted for`. */
export const workdaysText = ({ accounted, workdays }: Workdays): string =>
  workdays === 0
    ? 'No workdays in this period'
    : `${accounted} of ${workdays} ${workdays === 1 ? 'workday' : 'workdays'} accounted for`;
