/** The periods of a Hustle Review, the coach's analysis of many days; each ends today (docs/specification/coach.md 6). */
import { addDays, type Day } from '../day/day.ts';

export const REVIEW_PERIODS = {
  '7-day': { days: 7, title: 'Last 7 Days', generate: 'Generate 7-Day Analysis' },
  '30-day': { days: 30, title: 'Last 30 Days', generate: 'Generate 30-Day Analysis' },
} as const;
export type ReviewPeriod = keyof typeof REVIEW_PERIODS;

export const firstDayOf = (period: ReviewPeriod, today: Day): Day => addDays(today, 1 - REVIEW_PERIODS[period].days);

/** A stored review is shown on the last day of its period and on the six days after it. */
const SHOWN_DAYS = 7;

/**
 * The first and last days of stored reviews that are shown for this period. A row holds no name of its period, so the
 * bounds exclude reviews of another length.
 */
export const storedReviewBounds = (
  period: ReviewPeriod,
  today: Day,
): { firstFrom: Day; lastFrom: Day; firstTo: Day } => ({
  firstFrom: addDays(firstDayOf(period, today), 1 - SHOWN_DAYS),
  lastFrom: firstDayOf(period, today),
  firstTo: addDays(today, 1 - SHOWN_DAYS),
});
