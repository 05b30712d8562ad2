/**
 * The year of a user: the summary that its page shows, the grid of its calendar, and the anniversaries of a day
 * (docs/specification/year.md).
 */
import { MONTHS, addDays, addYears, type Day } from './day/day.ts';
import { scoreBand } from './coach/hustle-score.ts';
import type { Mention } from './log/frequent-words.ts';
import { weekStartOf, inMonth, monthOf, type WeekStart } from './day/month.ts';

/** `lines`: how many the log has; null for a day that the plan does not open, of which only the date is known. */
export type YearDay = { date: Day; score: number | null; lines: number | null };
export type YearAnswer = {
  success: true;
  /** Oldest first. */
  days: YearDay[];
  /** The user's first log of all; null without one. */
  first: Day | null;
  tags: Mention[];
  names: Mention[];
};

export type MonthFacts = { logs: number; score: number | null; band: string | null };

const monthIndex = (date: Day): number => Number(date.slice(5, 7)) - 1;

/** The number of logs of each month, its mean score and the band of that score. */
export function monthFacts(days: readonly YearDay[]): MonthFacts[] {
  return MONTHS.map((_name, index) => {
    const ofMonth = days.filter(({ date }) => monthIndex(date) === index);
    const scores = ofMonth.flatMap(({ score }) => (score === null ? [] : [score]));
    const score = scores.length === 0 ? null : Math.round(scores.reduce((sum, each) => sum + each, 0) / scores.length);
    return { logs: ofMonth.length, score, band: score === null ? null : scoreBand(score).word };
  });
}

/** `Your busiest month was March, with 74 lines on 22 days.` Null if no day, or only days of one month are known. */
export function busiestMonthText(days: readonly YearDay[]): string | null {
  const months = MONTHS.map((name, index) => {
    const known = days.filter(({ date, lines }) => lines !== null && monthIndex(date) === index);
    return { name, logs: known.length, lines: known.reduce((sum, { lines }) => sum + lines!, 0) };
  }).filter(({ logs }) => logs > 0);
  if (months.length < 2) return null;
  const { name, logs, lines } = months.reduce((most, month) => (month.lines > most.lines ? month : most));
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `Your busiest month was ${name}, with ${count(lines, 'line')} on ${count(logs, 'day')}.`;
}

const WEEKS = 53;

/** The grid of a year's calendar heat map: one row per weekday, one column per week; null after today. */
export function yearRows(today: Day, weekStart: WeekStart): (Day | null)[][] {
  const first = addDays(weekStartOf(today, weekStart), -7 * (WEEKS - 1));
  return Array.from({ length: 7 }, (_weekday, row) =>
    Array.from({ length: WEEKS }, (_week, column) => {
      const date = addDays(first, column * 7 + row);
      return date <= today ? date : null;
    }),
  );
}

/** The earlier day that an empty page shows its writer (docs/specification/year.md 3). */
export type Anniversary = { date: Day; label: string };

/**
 * The nearest of one month, one year and more years before `today` that has a log; null without one. The last day of a
 * month stands for a day that the month does not have.
 */
export function nearestAnniversary(today: Day, logged: readonly Day[]): Anniversary | null {
  const dates = new Set(logged);
  const earliest = logged.reduce<Day | null>((first, date) => (first === null || date < first ? date : first), null);
  if (earliest === null || today < '0002') return null;
  const monthAgo = inMonth(today, monthOf(today) - 1);
  if (dates.has(monthAgo)) return { date: monthAgo, label: 'A month ago' };
  for (let years = 1, date = addYears(today, -1); date >= earliest; years += 1, date = addYears(today, -years)) {
    if (dates.has(date)) return { date, label: years === 1 ? 'A year ago' : `${years} years ago` };
  }
  return null;
}
