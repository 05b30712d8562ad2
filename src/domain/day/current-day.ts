/**
 * A user's current day: the one rule for "today" (docs/specification/days-and-saving.md 1). Where days end at 03:00,
 * the hours before count as the day before. The rule reads the local clock, so a day of 23 or 25 hours ends at 03:00
 * too.
 */
import { addDays, day, dayOf, earlierOf, type Day } from './day.ts';

/** The hours at which a day may end. */
export const DAY_ENDS = [0, 3] as const;
export type DayEnd = (typeof DAY_ENDS)[number];

type Clock = (instant: Date) => { date: Day; hour: number };

const HALF_HOUR_MS = 1_800_000;

function dayOn(clock: Clock, now: Date, dayEndsAt: DayEnd): Day {
  const { date, hour } = clock(now);
  if (hour >= dayEndsAt) return date;
  // On the Chatham Islands the clock goes from 03:45 back to 02:45 once a year. The day that began at 03:00 stays.
  const before = clock(new Date(now.getTime() - HALF_HOUR_MS));
  return before.date === date && before.hour >= dayEndsAt ? date : addDays(date, -1);
}

/** In the machine's time zone. In the browser, that is the user's. */
export const localCurrentDay = (now: Date, dayEndsAt: DayEnd): Day =>
  dayOn((instant) => ({ date: dayOf(instant), hour: instant.getHours() }), now, dayEndsAt);

/**
 * `timeZone`: a name of the tz database; null for an unknown zone counts as UTC.
 *
 * @throws RangeError for a time zone that this machine does not know.
 */
export const currentDay = (now: Date, timeZone: string | null, dayEndsAt: DayEnd): Day =>
  dayOn(clockIn(timeZone ?? 'UTC'), now, dayEndsAt);

const clockIn =
  (timeZone: string): Clock =>
  (instant) => {
    const { day: date, minutes } = localTime(instant, timeZone);
    return { date, hour: Math.floor(minutes / 60) };
  };

/**
 * The civil day and the minutes after its midnight. Throws a RangeError for an unknown time zone, and before the year
 * 1000.
 */
export function localTime(instant: Date, timeZone: string): { day: Day; minutes: number } {
  const [date, time] = formatIn(timeZone).format(instant).split(' ') as [string, string];
  return { day: day(date), minutes: Number(time.slice(0, 2)) * 60 + Number(time.slice(3)) };
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Threat: zone names ignore case, so requests with many spellings fill the memory with formats of 30 KB each. */
const MAX_FORMATS = 1_000;

/** Cached, because creating a format costs far more than using it, and a job asks for many users of one zone. */
function formatIn(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    // Swedish dates are written as ISO dates: `2026-11-21 00:30`.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(timeZone, format);
  }
  return format;
}

/**
 * The day that the journal opens on (docs/specification/days-and-saving.md 3): today, or for premium the day after the
 * latest log, at most today.
 */
export function initialDay(premium: boolean, latestLog: Day | null, today: Day): Day {
  return premium && latestLog !== null ? earlierOf(addDays(latestLog, 1), today) : today;
}
