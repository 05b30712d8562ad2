import { expect, test } from 'vitest';
import { addDays, day } from '../day/day.ts';
import { firstDayOf, REVIEW_PERIODS, storedReviewBounds, type ReviewPeriod } from './review-period.ts';

test.each([
  ['7-day', '2026-11-15'],
  ['30-day', '2026-10-23'],
] as const)('a %s review of November 21 begins on %s', (period, first) => {
  expect(firstDayOf(period, day('2026-11-21'))).toBe(first);
});

const TODAY = day('2026-11-20');
const PERIODS = Object.keys(REVIEW_PERIODS) as ReviewPeriod[];

/** How many days ago the reviews of `length` ended that are shown for `period`. */
function shownEnds(period: ReviewPeriod, length: ReviewPeriod): number[] {
  const { firstFrom, lastFrom, firstTo } = storedReviewBounds(period, TODAY);
  return Array.from({ length: 80 }, (_end, back) => back).filter((back) => {
    const to = addDays(TODAY, -back);
    const from = firstDayOf(length, to);
    return from >= firstFrom && from <= lastFrom && to >= firstTo;
  });
}

test.each(PERIODS)('shows the %s reviews of the last seven days, and none of another length', (period) => {
  expect(shownEnds(period, period)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const other of PERIODS) if (other !== period) expect(shownEnds(period, other)).toEqual([]);
});
