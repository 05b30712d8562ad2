/** Reads `Saturday - November 21, 2026` back: the line above each day of a text or Markdown export. */
import { dayLabel, isDay, MONTHS, WEEKDAYS } from '../day/day.ts';
import type { Day } from '../day/day.ts';

const HEADING = new RegExp(`^(?:${WEEKDAYS.join('|')}) - (${MONTHS.join('|')}) (\\d{1,2}), (\\d{1,4})$`);

/** Reads like a day's label, whether or not there is such a day. */
export const isDayHeading = (line: string): boolean => HEADING.test(line);

/** The day, or null where the calendar has none: February 30, or a Monday that was a Tuesday. */
export function dayOfHeading(line: string): Day | null {
  const match = HEADING.exec(line);
  if (!match) return null;
  const month = String(MONTHS.indexOf(match[1] as (typeof MONTHS)[number]) + 1).padStart(2, '0');
  const date = `${match[3]!.padStart(4, '0')}-${month}-${match[2]!.padStart(2, '0')}`;
  return isDay(date) && dayLabel(date) === line ? date : null;
}
