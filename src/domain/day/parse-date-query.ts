/**
 * The day that somebody names in words: a small set that is never wrong rather than a large one that guesses. Dates of
 * figures alone are taken in one order only, year first: 3/4/2026 is another day on each side of the Atlantic.
 */
import { addDays, day, isDay, MONTHS, WEEKDAYS, weekdayOf } from './day.ts';
import type { Day } from './day.ts';

const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6 };
const MAX_AGO = 1000;

/** Null for a text that names no day, no real one, or one after today. */
export function soughtDay(query: string, today: Day): Day | null {
  const text = query.trim().toLowerCase().replace(/\s+/g, ' ');
  const found = relativeDay(text, today) ?? isoDay(text) ?? monthDay(text, today);
  return found !== null && found <= today ? found : null;
}

function relativeDay(text: string, today: Day): Day | null {
  if (text === 'today') return today;
  if (text === 'yesterday') return addDays(today, -1);
  const weekday = /^(?:last )?([a-z]{3,9})$/.exec(text)?.[1];
  if (weekday !== undefined) return lastWeekday(weekday, today);
  const [, count, unit] = /^(\d{1,4}|[a-z]{1,5}) (day|week|month|year)s? ago$/.exec(text) ?? [];
  if (count === undefined) return null;
  const many = NUMBERS[count] ?? Number(count);
  if (!(many <= MAX_AGO)) return null;
  if (unit === 'day') return addDays(today, -many);
  if (unit === 'week') return addDays(today, -7 * many);
  return monthsBefore(today, unit === 'year' ? 12 * many : many);
}

/** The last one before today: on a Friday, `friday` is the one a week ago. */
function lastWeekday(name: string, today: Day): Day | null {
  for (let back = 1; back <= 7; back += 1) {
    const before = addDays(today, -back);
    if (begins(weekdayOf(before), name)) return before;
  }
  return null;
}

/** `fri` and `friday`, `sept` and `september`: three letters or more of a name. */
const begins = (name: string, part: string): boolean => part.length >= 3 && name.toLowerCase().startsWith(part);

/** The same day of the month, or the month's last one. */
function monthsBefore(from: Day, count: number): Day | null {
  const [year, month, date] = from.split('-').map(Number) as [number, number, number];
  const months = year * 12 + (month - 1) - count;
  for (let last = date; last >= 28 || last === date; last -= 1) {
    const found = dayIn(Math.floor(months / 12), (months % 12) + 1, last);
    if (found) return found;
  }
  return null;
}

function dayIn(year: number, month: number, date: number): Day | null {
  const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(date).padStart(2, '0')].join('-');
  return isDay(text) ? day(text) : null;
}

function isoDay(text: string): Day | null {
  const [, year, month, date] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text) ?? [];
  return year === undefined ? null : dayIn(Number(year), Number(month), Number(date));
}

const WEEKDAY_BEFORE = new RegExp(`^(?:${WEEKDAYS.join('|')})(?: -|,)? `, 'i');

/** `14 March`, `March 14th`, `Mar 14, 2026`, and the journal's own `Saturday - March 14, 2026`. Without a year, the last one. */
function monthDay(text: string, today: Day): Day | null {
  const rest = text.replace(WEEKDAY_BEFORE, '');
  const [, dateFirst, monthAfter, yearAfter] =
    /^(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9})(?:,? (\d{4}))?$/.exec(rest) ?? [];
  const [, monthFirst, dateAfter, yearLast] =
    /^([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(rest) ?? [];
  const name = monthAfter ?? monthFirst;
  if (name === undefined) return null;
  const month = MONTHS.findIndex((known) => begins(known, name)) + 1;
  if (month === 0) return null;
  const date = Number(dateFirst ?? dateAfter);
  const year = yearAfter ?? yearLast;
  return year === undefined ? lastOfItsName(month, date, today) : dayIn(Number(year), month, date);
}

/** Eight years back, because February 29 may be so far away. */
function lastOfItsName(month: number, date: number, today: Day): Day | null {
  const thisYear = Number(today.slice(0, 4));
  for (let year = thisYear; year >= thisYear - 8; year -= 1) {
    const found = dayIn(year, month, date);
    if (found !== null && found <= today) return found;
  }
  return null;
}
