/**
 * Parses a date that a user types (`yesterday`, `last friday`, `14 March`). Supports a small, unambiguous set of forms.
 * Numeric dates must be year-first, because 3/4/2026 means a different day in Europe than in the United States.
 */
import { addDays, canOpenDay, day, isDay, MONTHS, WEEKDAYS, weekdayOf, type Day } from './day.ts';

const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6 };
const MAX_AMOUNT = 1000;

/** Null for text that is not a date, for a date that does not exist, and for a date after today without a log. */
export function parseDateQuery(query: string, today: Day, logged: readonly Day[] = []): Day | null {
  const text = query.trim().toLowerCase().replace(/\s+/g, ' ');
  const found = parseRelativeDate(text, today) ?? parseIsoDate(text) ?? parseMonthAndDay(text, today);
  return found !== null && canOpenDay(found, today, logged.includes(found)) ? found : null;
}

function parseRelativeDate(text: string, today: Day): Day | null {
  if (text === 'today') return today;
  if (text === 'yesterday') return addDays(today, -1);
  if (text === 'tomorrow') return addDays(today, 1);
  const weekday = /^(?:last )?([a-z]{3,9})$/.exec(text)?.[1];
  if (weekday !== undefined) return lastWeekday(weekday, today);
  const [, count, unit] = /^(\d{1,4}|[a-z]{1,5}) (day|week|month|year)s? ago$/.exec(text) ?? [];
  if (count === undefined) return null;
  const amount = NUMBERS[count] ?? Number(count);
  if (!(amount <= MAX_AMOUNT)) return null;
  if (unit === 'day') return addDays(today, -amount);
  if (unit === 'week') return addDays(today, -7 * amount);
  return monthsBefore(today, unit === 'year' ? 12 * amount : amount);
}

/** The most recent day with that weekday before today: on a Friday, `friday` means a week ago. */
function lastWeekday(name: string, today: Day): Day | null {
  for (let back = 1; back <= 7; back += 1) {
    const before = addDays(today, -back);
    if (isAbbreviationOf(weekdayOf(before), name)) return before;
  }
  return null;
}

/** At least three letters: `fri` and `friday`, `sept` and `september`. */
const isAbbreviationOf = (name: string, typed: string): boolean =>
  typed.length >= 3 && name.toLowerCase().startsWith(typed);

/** The same day of an earlier month, clamped to the last day of the earlier month. Null before year 1. */
function monthsBefore(from: Day, count: number): Day | null {
  const [year, month, date] = from.split('-').map(Number) as [number, number, number];
  const months = year * 12 + (month - 1) - count;
  for (let last = date; last >= 28 || last === date; last -= 1) {
    const found = dayFromParts(Math.floor(months / 12), (months % 12) + 1, last);
    if (found) return found;
  }
  return null;
}

function dayFromParts(year: number, month: number, date: number): Day | null {
  const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(date).padStart(2, '0')].join('-');
  return isDay(text) ? day(text) : null;
}

function parseIsoDate(text: string): Day | null {
  const [, year, month, date] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text) ?? [];
  return year === undefined ? null : dayFromParts(Number(year), Number(month), Number(date));
}

const WEEKDAY_BEFORE = new RegExp(`^(?:${WEEKDAYS.join('|')})(?: -|,)? `, 'i');

/**
 * `14 March`, `March 14th`, `Mar 14, 2026`, or the label `Saturday - March 14, 2026`. Without a year: the most recent
 * one.
 */
function parseMonthAndDay(text: string, today: Day): Day | null {
  const rest = text.replace(WEEKDAY_BEFORE, '');
  const [, dateFirst, monthAfter, yearAfter] =
    /^(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9})(?:,? (\d{4}))?$/.exec(rest) ?? [];
  const [, monthFirst, dateAfter, yearLast] =
    /^([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(rest) ?? [];
  const name = monthAfter ?? monthFirst;
  if (name === undefined) return null;
  const month = MONTHS.findIndex((known) => isAbbreviationOf(known, name)) + 1;
  if (month === 0) return null;
  const date = Number(dateFirst ?? dateAfter);
  const year = yearAfter ?? yearLast;
  return year === undefined ? mostRecentDay(month, date, today) : dayFromParts(Number(year), month, date);
}

/** Searches this year and the eight before it, because two leap days can be eight years apart (1896 and 1904). */
function mostRecentDay(month: number, date: number, today: Day): Day | null {
  const thisYear = Number(today.slice(0, 4));
  for (let year = thisYear; year >= thisYear - 8; year -= 1) {
    const found = dayFromParts(year, month, date);
    if (found !== null && found <= today) return found;
  }
  return null;
}
