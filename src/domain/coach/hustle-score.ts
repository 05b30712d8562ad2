import { daysBetween, MONTHS, type Day } from '../day/day.ts';
import { shortDate } from './win-bullets.ts';

/**
 * The bands of the HustleScore, the coach's score of a log from 1 to 10 (docs/specification/coach.md 5). Each has a
 * word, because colour alone is not accessible.
 */
export type ScoreBand = { name: 'good' | 'fair' | 'weak' | 'poor'; word: string };

export function scoreBand(score: number): ScoreBand {
  if (score >= 8) return { name: 'good', word: 'Strong' };
  if (score >= 6) return { name: 'fair', word: 'Solid' };
  if (score >= 4) return { name: 'weak', word: 'Thin' };
  return { name: 'poor', word: 'Poor' };
}

// One sentence about the direction of a period's HustleScores (docs/specification/year.md 2).

/** Fewer scores show no trend. */
const MIN_SCORES = 8;
/** Longer periods name the month of their first score instead of its day. */
const MAX_DAYS_BY_DATE = 62;
/** The difference of the means must exceed this many standard errors. A smaller one may be chance. */
const MIN_STANDARD_ERRORS = 2;

/**
 * Compares the mean of the first third of the scores with that of the last third. `scores`: oldest first. Null for too
 * few scores, or if the difference may be chance.
 */
export function trendSentence(scores: readonly { date: Day; score: number }[], today: Day): string | null {
  if (scores.length < MIN_SCORES) return null;
  const third = Math.floor(scores.length / 3);
  const first = meanOf(scores.slice(0, third));
  const last = meanOf(scores.slice(-third));
  const [from, to] = [Math.round(first.mean), Math.round(last.mean)];
  const since = `since ${sinceLabel(scores[0]!.date, today)}.`;
  if (from === to) return `Your scores stayed at about ${to} ${since}`;
  const standardError = Math.sqrt((first.variance + last.variance) / third);
  if (Math.abs(last.mean - first.mean) <= MIN_STANDARD_ERRORS * standardError) return null;
  return `Your scores ${to > from ? 'rose' : 'fell'} from about ${from} to about ${to} ${since}`;
}

function meanOf(scores: readonly { score: number }[]): { mean: number; variance: number } {
  const mean = scores.reduce((sum, { score }) => sum + score, 0) / scores.length;
  const squares = scores.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  return { mean, variance: squares / Math.max(1, scores.length - 1) };
}

function sinceLabel(first: Day, today: Day): string {
  const isThisYear = first.slice(0, 4) === today.slice(0, 4);
  if (daysBetween(first, today) <= MAX_DAYS_BY_DATE) return shortDate(first);
  const month = MONTHS[Number(first.slice(5, 7)) - 1]!;
  return isThisYear ? month : `${month} ${first.slice(0, 4)}`;
}
