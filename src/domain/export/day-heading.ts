/** Parses `Saturday - November 21, 2026`, the heading of each day in a text or Markdown export. */
import { dayLabel, isDay, MONTHS, WEEKDAYS } from '../day/day.ts';
import type { Day } from '../day/day.ts';

const HEADING = new RegExp(`^(?:${WEEKDAYS.join('|')}) - (${MONTHS.join('|')}) (\\d{1,2}), (\\d{1,4})$`);

/** Checks the form only; the day need not exist. */
export const isDayHeading = (line: string): boolean => HEADING.test(line);

/** Null for a date that does not exist or has another weekday. */
export function parseDayHeading(line: string): Day | null {
  const match = HEADING.exec(line);
  if (!match) return null;
  const month = String(MONTHS.indexOf(match[1] as (typeof MONTHS)[number]) + 1).padStart(2, '0');
  const date = `${match[3]!.padStart(4, '0')}-${month}-${match[2]!.padStart(2, '0')}`;
  return isDay(date) && dayLabel(date) === line ? date : null;
}
