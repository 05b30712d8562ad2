/** Parses `Saturday - November 21, 2026`, the heading of each day in a text or Markdown export. */
import { isDay, MONTHS, WEEKDAYS, weekdayOf, type Day } from '../day/day.ts';

/** A hyphen, or the dash that an editor's smart punctuation puts in its place. */
export const DASHES = '[-\u2010-\u2015\u2212]';
/** Without anchors and groups that capture. */
export const DAY_HEADING = `(?:${WEEKDAYS.join('|')})\\s*${DASHES}{1,3}\\s*(?:${MONTHS.join('|')})\\s+\\d{1,2},\\s*\\d{1,4}`;
const HEADING = new RegExp(`^${DAY_HEADING}\\s*$`);
const PARTS = /^(\w+)\W+(\w+)\W+(\d+)\W+(\d+)/;

/** Checks the form only; the day need not exist. */
export const isDayHeading = (line: string): boolean => HEADING.test(line);

/** Null for a date that does not exist or has another weekday. */
export function parseDayHeading(line: string): Day | null {
  if (!isDayHeading(line)) return null;
  const [, weekday, month, dayOfMonth, year] = PARTS.exec(line)!;
  const monthNumber = String(MONTHS.findIndex((name) => name === month) + 1).padStart(2, '0');
  const date = `${year!.padStart(4, '0')}-${monthNumber}-${dayOfMonth!.padStart(2, '0')}`;
  return isDay(date) && weekdayOf(date) === weekday ? date : null;
}
