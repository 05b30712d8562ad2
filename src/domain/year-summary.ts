/** What the page of a year shows (docs/specification/year.md 5). */
import { MONTHS, type Day } from './day/day.ts';
import { scoreBand } from './coach/hustle-score.ts';
import type { Mention } from './log/frequent-words.ts';

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

/** The logs of each month and the band of its mean score. */
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
