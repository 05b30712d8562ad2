/**
 * Months and weeks of civil days, computed without a clock or time zone, because some zones lack a local midnight or a
 * whole day.
 */
import { addDays, isDay, WEEKDAYS, weekdayOf, type Day } from './day.ts';

/** Months since January of year 0, so that adding 1 gives the next month. */
export type MonthNumber = number;

export const monthOf = (date: Day): MonthNumber => Number(date.slice(0, -6)) * 12 + Number(date.slice(-5, -3)) - 1;
export const yearOf = (month: MonthNumber): number => Math.floor(month / 12);

const pad = (number: number, length: number): string => String(number).padStart(length, '0');

export function daysOfMonth(month: MonthNumber): Day[] {
  const prefix = `${pad(yearOf(month), 4)}-${pad((month % 12) + 1, 2)}-`;
  return Array.from({ length: 31 }, (_, index) => prefix + pad(index + 1, 2)).filter(isDay);
}

/** The first days of a week that a user can choose. */
export const WEEK_STARTS = ['Sunday', 'Monday', 'Saturday'] as const;
export type WeekStart = (typeof WEEK_STARTS)[number];

/** The seven weekdays in the order of a week that begins on `start`. */
export function weekdaysFrom(start: WeekStart): readonly (typeof WEEKDAYS)[number][] {
  const first = WEEKDAYS.indexOf(start);
  return [...WEEKDAYS.slice(first), ...WEEKDAYS.slice(0, first)];
}

/** The first day of the week that contains a day. */
export const weekStartOf = (date: Day, start: WeekStart): Day =>
  addDays(date, -weekdaysFrom(start).indexOf(weekdayOf(date)));

/** The weeks of a month, seven cells each; null for days of the adjacent months. */
export function weeksOfMonth(month: MonthNumber, start: WeekStart): (Day | null)[][] {
  const days = daysOfMonth(month);
  const before = weekdaysFrom(start).indexOf(weekdayOf(days[0]!));
  return Array.from({ length: Math.ceil((before + days.length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_day, index) => days[week * 7 + index - before] ?? null),
  );
}

/** The same day of another month, or the last day of a shorter month. */
export function inMonth(date: Day, month: MonthNumber): Day {
  const days = daysOfMonth(month);
  return days[Number(date.slice(-2)) - 1] ?? days.at(-1)!;
}
