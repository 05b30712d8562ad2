/**
 * Civil dates, `YYYY-MM-DD`, without a time or a time zone.
 *
 * A day is a string on purpose. A JavaScript `Date` is an instant, and converting an instant to a day needs a time
 * zone: journals that store instants shift old entries by a day when the user travels or daylight saving time changes.
 * `current-day.ts` decides which day is today, in the user's own zone. Afterwards days are only compared, counted and
 * formatted. The arithmetic below runs in UTC, where every day has 24 hours.
 */
declare const dayBrand: unique symbol;
export type Day = string & { readonly [dayBrand]: true };

const DAY_PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;
const MS_PER_DAY = 86_400_000;
const MS_PER_HOUR = 3_600_000;

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/** The Gregorian calendar has no year 0, and PostgreSQL rejects it. */
export const FIRST_DAY = '0001-01-01' as Day;

/** True for an existing calendar date from year 0001 on; false for `2026-02-30`. */
export function isDay(text: unknown): text is Day {
  if (typeof text !== 'string') return false;
  const match = DAY_PATTERN.exec(text);
  if (!match) return false;
  const instant = Date.parse(`${text}T00:00:00Z`);
  // Date.parse accepts February 30 in some engines and rolls over, so the date must survive a round trip.
  return match[1] !== '0000' && !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text);
}

/** Asserts that a text is a day. Throws a RangeError otherwise: validate outside input with `isDay` instead. */
export function day(text: string): Day {
  if (!isDay(text)) throw new RangeError(`not a calendar date: ${text}`);
  return text;
}

/** The civil date at an instant, in the machine's time zone (in the browser: the user's). */
export function dayOf(instant: Date): Day {
  const year = String(instant.getFullYear()).padStart(4, '0');
  const month = String(instant.getMonth() + 1).padStart(2, '0');
  return `${year}-${month}-${String(instant.getDate()).padStart(2, '0')}` as Day;
}

const toUtc = (of: Day): Date => new Date(`${of}T00:00:00Z`);
/** The civil date in UTC, for receipts: the server knows no time zone of the buyer. */
export const utcDayOf = (instant: Date): Day => instant.toISOString().slice(0, 10) as Day;

export function addDays(to: Day, count: number): Day {
  return utcDayOf(new Date(toUtc(to).getTime() + count * MS_PER_DAY));
}

/** February 29 becomes February 28 in a year that is not a leap year. */
export function addYears(to: Day, count: number): Day {
  const [year, month, date] = to.split('-') as [string, string, string];
  const later = `${String(Number(year) + count).padStart(4, '0')}-${month}-`;
  return isDay(later + date) ? ((later + date) as Day) : day(`${later}28`);
}

/** Negative when `to` is before `from`. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((toUtc(to).getTime() - toUtc(from).getTime()) / MS_PER_DAY);
}

/** ISO dates sort lexicographically. */
export const isBefore = (a: Day, b: Day): boolean => a < b;
/**
 * A day after today opens only if it has a log: after a journey over the date line, today is the day before the one
 * just written.
 */
export const canOpenDay = (date: Day, today: Day, hasLog: boolean): boolean => date <= today || hasLog;
export const earlierOf = (a: Day, b: Day): Day => (a < b ? a : b);

export const weekdayOf = (of: Day): (typeof WEEKDAYS)[number] => WEEKDAYS[toUtc(of).getUTCDay()]!;

/** `November 21, 2026`. */
export function dateLabel(of: Day): string {
  const date = toUtc(of);
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, ${of.slice(0, 4).replace(/^0+/, '')}`;
}

const ISO_DATE = /(?<![\w./+-])\d{4}-\d{2}-\d{2}(?![\w/+-]|\.\w)/g;

/** Replaces ISO dates in a text by `dateLabel`. */
export const withDateLabels = (text: string): string =>
  text.replaceAll(ISO_DATE, (date) => (isDay(date) ? dateLabel(date) : date));

/**
 * `Saturday - November 21, 2026`: the journal's label and the header stored with a log (docs/specification/screens.md
 * 5).
 */
export const dayLabel = (of: Day): string => `${weekdayOf(of)} - ${dateLabel(of)}`;

/**
 * The earliest and the latest civil date anywhere on Earth at an instant (UTC-12 and UTC+14). The server checks against
 * these, because it does not know the user's time zone; the browser uses the exact day
 * (docs/specification/days-and-saving.md 2). The SQL functions `earliest_today`, `earliest_current_day` and
 * `latest_today` repeat these rules; tests/policies/local-days.test.ts compares both.
 */
export const earliestToday = (instant: Date): Day => utcDayOf(new Date(instant.getTime() - 12 * MS_PER_HOUR));
/**
 * The earliest current day of any user: at UTC-12, where the day may end at 03:00 (current-day.ts). The server counts
 * the free window from it, so every user has the whole window.
 */
export const earliestCurrentDay = (instant: Date): Day => earliestToday(new Date(instant.getTime() - 3 * MS_PER_HOUR));
export const latestToday = (instant: Date): Day => utcDayOf(new Date(instant.getTime() + 14 * MS_PER_HOUR));

/** Further back, a weekday alone is ambiguous. */
const MAX_DAYS_BY_WEEKDAY = 6;

/** The placeholder of an empty log. */
export function dayQuestion(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  if (days <= 0) return 'What have you done today?';
  if (days === 1) return 'What did you do yesterday?';
  if (days <= MAX_DAYS_BY_WEEKDAY) return `What did you do on ${weekdayOf(date)}?`;
  const isThisYear = date.slice(0, 4) === today.slice(0, 4);
  const dayOfYear = isThisYear ? `${MONTHS[Number(date.slice(5, 7)) - 1]} ${Number(date.slice(8))}` : dateLabel(date);
  return `What did you do on ${weekdayOf(date)}, ${dayOfYear}?`;
}

/** `Yesterday`, `3 days ago`; `Tomorrow` and `In 2 days` for a later day that has a log. `date` must not be `today`. */
export function relativeDayLabel(date: Day, today: Day): string {
  const days = daysBetween(date, today);
  if (days < 0) return days === -1 ? 'Tomorrow' : `In ${(-days).toLocaleString('en')} days`;
  return days === 1 ? 'Yesterday' : `${days.toLocaleString('en')} days ago`;
}
