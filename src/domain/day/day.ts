/**
 * A day is a civil date, `YYYY-MM-DD`: what the calendar on the user's wall says.
 *
 * It is a string on purpose. A JavaScript `Date` is an instant, and turning an instant into a day needs a time zone;
 * journals that stored instants moved old entries by a day whenever their owner travelled or the clocks changed.
 * So an instant becomes a day in exactly one place, `dayOf`, in the zone of the person who writes. From then on it is
 * only compared, counted and labelled. The arithmetic below runs in UTC, where every day has 24 hours.
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

/** There is no year 0, and PostgreSQL would not take its days. */
export const FIRST_DAY = '0001-01-01' as Day;

/** True for a real calendar date from year 0001 on; `2026-02-30` is none. */
export function isDay(text: unknown): text is Day {
  if (typeof text !== 'string') return false;
  const match = DAY_PATTERN.exec(text);
  if (!match) return false;
  const instant = Date.parse(`${text}T00:00:00Z`);
  // Date.parse accepts February 30 in some engines and rolls over: only a date that reads back the same is real.
  return match[1] !== '0000' && !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text);
}

/** The day for a text that must be one. Throws a RangeError otherwise: callers check outside input with `isDay`. */
export function day(text: string): Day {
  if (!isDay(text)) throw new RangeError(`not a calendar date: ${text}`);
  return text;
}

/** The civil date at an instant, in the machine's own time zone: in the browser, the user's. */
export function dayOf(instant: Date): Day {
  const year = String(instant.getFullYear()).padStart(4, '0');
  const month = String(instant.getMonth() + 1).padStart(2, '0');
  return `${year}-${month}-${String(instant.getDate()).padStart(2, '0')}` as Day;
}

const toUtc = (of: Day): Date => new Date(`${of}T00:00:00Z`);
const fromUtc = (instant: Date): Day => instant.toISOString().slice(0, 10) as Day;

/** The day `count` days later, or earlier when negative. */
export function addDays(to: Day, count: number): Day {
  return fromUtc(new Date(toUtc(to).getTime() + count * MS_PER_DAY));
}

/** The same day `count` years later; February 29 becomes February 28 where the year has none. */
export function addYears(to: Day, count: number): Day {
  const [year, month, date] = to.split('-') as [string, string, string];
  const later = `${String(Number(year) + count).padStart(4, '0')}-${month}-`;
  return isDay(later + date) ? ((later + date) as Day) : day(`${later}28`);
}

/** How many days `to` lies after `from`; negative when it lies before. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((toUtc(to).getTime() - toUtc(from).getTime()) / MS_PER_DAY);
}

/** Days compare as their texts do. */
export const isBefore = (a: Day, b: Day): boolean => a < b;
export const earlierOf = (a: Day, b: Day): Day => (a < b ? a : b);

export const weekdayOf = (of: Day): (typeof WEEKDAYS)[number] => WEEKDAYS[toUtc(of).getUTCDay()]!;

/** `November 21, 2026`. */
export function dateLabel(of: Day): string {
  const date = toUtc(of);
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, ${of.slice(0, 4).replace(/^0+/, '')}`;
}

const ISO_DATE = /(?<![\w./+-])\d{4}-\d{2}-\d{2}(?![\w/+-]|\.\w)/g;

/** A text for reading: its dates as the screens write them, not as machines do. */
export const withDateLabels = (text: string): string =>
  text.replaceAll(ISO_DATE, (date) => (isDay(date) ? dateLabel(date) : date));

/** `Saturday - November 21, 2026`: the label of the journal and the header stored with a log (docs/specification/screens.md 5). */
export const dayLabel = (of: Day): string => `${weekdayOf(of)} - ${dateLabel(of)}`;

/**
 * The first and the last day that it can be anywhere on Earth at an instant (UTC-12 and UTC+14).
 * The server does not know where a user is, so it judges with these; the browser judges with the exact day
 * (docs/specification/days-and-saving.md 2). `database/migrations/app` repeats them in SQL, and tests/policies holds both to the same rows.
 */
export const earliestToday = (instant: Date): Day => fromUtc(new Date(instant.getTime() - 12 * MS_PER_HOUR));
export const latestToday = (instant: Date): Day => fromUtc(new Date(instant.getTime() + 14 * MS_PER_HOUR));
