/**
 * The periods of a Hustle Review, the coach's analysis of many days (docs/specification/coach.md 6). The short ones end
 * today. A quarter and a year are those of the calendar, up to today, and are read month by month
 * (docs/specification/year.md 4).
 */
import { addDays, earlierOf, MONTHS, type Day } from '../day/day.ts';
import { daysOfMonth, monthOf, type MonthNumber } from '../day/month.ts';

export const REVIEW_PERIODS = {
  '7-day': { title: 'Last 7 Days', generate: 'Generate 7-Day Analysis', days: 7, months: null },
  '30-day': { title: 'Last 30 Days', generate: 'Generate 30-Day Analysis', days: 30, months: null },
  quarter: { title: 'Quarter', generate: 'Generate Quarter Analysis', days: null, months: 3 },
  year: { title: 'Year', generate: 'Generate Year Analysis', days: null, months: 12 },
} as const;
export type ReviewPeriod = keyof typeof REVIEW_PERIODS;
export type DayRange = { from: Day; to: Day };

export const isLongPeriod = (period: ReviewPeriod): boolean => REVIEW_PERIODS[period].months !== null;

/** `back`: how many quarters or years before the one of today; short periods have none. */
export function rangeOf(period: ReviewPeriod, today: Day, back = 0): DayRange {
  const { days, months } = REVIEW_PERIODS[period];
  if (months === null) return { from: addDays(today, 1 - days), to: today };
  const month = monthOf(today);
  const first = month - (month % months) - back * months;
  return { from: daysOfMonth(first)[0]!, to: earlierOf(daysOfMonth(first + months - 1).at(-1)!, today) };
}

export const firstDayOf = (period: ReviewPeriod, today: Day): Day => rangeOf(period, today).from;

/**
 * True for the range of a review that is written on one of the days from `earliest` to `latest`, which are today
 * somewhere.
 */
export function isReviewRange(period: ReviewPeriod, { from, to }: DayRange, earliest: Day, latest: Day): boolean {
  const { months } = REVIEW_PERIODS[period];
  const isToday = to >= earliest && to <= latest;
  if (months === null) return isToday && from === firstDayOf(period, to);
  if (from !== firstDayOf(period, from) || to < from || to > latest) return false;
  const last = daysOfMonth(monthOf(from) + months - 1).at(-1)!;
  return to === last || (isToday && to < last);
}

/** The calendar months of a range, the last one up to its end. */
export function monthsOfRange({ from, to }: DayRange): DayRange[] {
  const months: MonthNumber[] = [];
  for (let month = monthOf(from); month <= monthOf(to); month += 1) months.push(month);
  return months.map((month) => {
    const days = daysOfMonth(month);
    return { from: days[0]!, to: earlierOf(days.at(-1)!, to) };
  });
}

/** `November 2026`. */
export const monthLabel = (date: Day): string => `${MONTHS[Number(date.slice(5, 7)) - 1]!} ${date.slice(0, 4)}`;

/** The heading of a review: `7-Day Hustle Review`, `Q3 2026 Hustle Review`, `2026 Hustle Review`. */
export function reviewTitle(period: ReviewPeriod, from: Day): string {
  const { days } = REVIEW_PERIODS[period];
  if (days !== null) return `${days}-Day Hustle Review`;
  return `${rangeLabel(period, from)} Hustle Review`;
}

/** `Q3 2026`, `2026`. */
export function rangeLabel(period: ReviewPeriod, from: Day): string {
  const year = from.slice(0, 4);
  return period === 'quarter' ? `Q${Math.ceil(Number(from.slice(5, 7)) / 3)} ${year}` : year;
}

/** A stored short review is shown on the last day of its period and on the six days after it. */
const SHOWN_DAYS = 7;

/** Bounds for the first and last days of the stored reviews that are shown for this period; a long one is exact. */
export function storedReviewBounds(
  period: ReviewPeriod,
  { from, to }: DayRange,
): { firstFrom: Day; lastFrom: Day; firstTo: Day } {
  if (isLongPeriod(period)) return { firstFrom: from, lastFrom: from, firstTo: from };
  return { firstFrom: addDays(from, 1 - SHOWN_DAYS), lastFrom: from, firstTo: addDays(to, 1 - SHOWN_DAYS) };
}
