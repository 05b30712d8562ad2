/**
 * When a reminder or a digest is due: at a local time on some weekdays, in any zone of the tz database. Clock changes
 * neither skip nor repeat one: a repeated local time counts the first time, and a missing one moves by the length of
 * the gap (02:30 becomes 03:30).
 */
import { localTime } from '../day/current-day.ts';
import { addDays, WEEKDAYS, weekdayOf, type Day } from '../day/day.ts';
import { EARLIEST_REMINDER, type Preferences } from './preferences.ts';

const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

/** After downtime the server still sends what became due within this time. */
export const MAX_LATE_MS = 2 * 60 * MS_PER_MINUTE;

/** Weekdays as in `Preferences.workdays`; `at` in minutes after local midnight. */
export type WeeklyTime = { timeZone: string; at: number; weekdays: readonly number[] };
export type Due = { at: Date; day: Day };

/** The time of the digest for users without a reminder time, in minutes after midnight. */
const DIGEST_AT = 17 * 60;
const FRIDAY = 5;

/** Null if the reminder is off, or while the time zone is unknown. */
export function reminderTime(preferences: Preferences): WeeklyTime | null {
  const { time_zone: timeZone, remind_at: at, workdays: weekdays, remind_by_mail, remind_by_push } = preferences;
  if (timeZone === null || at === null || !(remind_by_mail || remind_by_push)) return null;
  return { timeZone, at, weekdays };
}

export function digestTime({ time_zone: timeZone, remind_at: at, digest }: Preferences): WeeklyTime | null {
  return timeZone !== null && digest ? { timeZone, at: at ?? DIGEST_AT, weekdays: [FRIDAY] } : null;
}

/** How far the search for the next day looks ahead: a week, plus days that a zone skips at the date line. */
const MAX_DAYS_AHEAD = 9;

/**
 * The first time at or after `from` on a day after `lastDay`; null if no weekday is chosen.
 *
 * @throws RangeError for a time zone that this machine does not know
 */
export function nextDue({ timeZone, at, weekdays }: WeeklyTime, from: Date, lastDay: Day | null): Due | null {
  const first = localTime(from, timeZone).day;
  for (let ahead = 0; ahead <= MAX_DAYS_AHEAD; ahead += 1) {
    const day = addDays(first, ahead);
    if (!weekdays.includes(WEEKDAYS.indexOf(weekdayOf(day))) || (lastDay !== null && day <= lastDay)) continue;
    const instant = instantOf(day, at, timeZone);
    if (instant !== null && instant >= from) return { at: instant, day };
  }
  return null;
}

/** False before the due time, more than two hours after it, on another local day, and before 06:00. */
export function isTimely({ at, day }: Due, now: Date, timeZone: string): boolean {
  const late = now.getTime() - at.getTime();
  if (late < 0 || late > MAX_LATE_MS) return false;
  const local = localTime(now, timeZone);
  return local.day === day && local.minutes >= EARLIEST_REMINDER;
}

/** Null for a day that the zone skips, as Samoa did when it crossed the date line. */
function instantOf(day: Day, minutes: number, timeZone: string): Date | null {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + minutes * MS_PER_MINUTE;
  const offsetBefore = offsetAt(asUtc - MS_PER_DAY, timeZone);
  const candidates = [offsetBefore, offsetAt(asUtc + MS_PER_DAY, timeZone)]
    .map((offset) => new Date(asUtc - offset))
    .toSorted((a, b) => a.getTime() - b.getTime());
  const matching = candidates.find((candidate) => {
    const local = localTime(candidate, timeZone);
    return local.day === day && local.minutes === minutes;
  });
  if (matching) return matching;
  // The time is in a gap. The offset from before the gap moves it by the length of the gap.
  const afterGap = new Date(asUtc - offsetBefore);
  return localTime(afterGap, timeZone).day === day ? afterGap : null;
}

/** The milliseconds by which local clocks are ahead of UTC. */
function offsetAt(instant: number, timeZone: string): number {
  const { day, minutes } = localTime(new Date(instant), timeZone);
  const local = Date.parse(`${day}T00:00:00Z`) + minutes * MS_PER_MINUTE;
  return local - Math.floor(instant / MS_PER_MINUTE) * MS_PER_MINUTE;
}
