import { expect, test } from 'vitest';
import { addDays, day } from '../day/day.ts';
import {
  firstDayOf,
  isReviewRange,
  monthsOfRange,
  rangeOf,
  reviewTitle,
  storedReviewBounds,
  type ReviewPeriod,
} from './review-period.ts';

test.each([
  ['7-day', '2026-11-15'],
  ['30-day', '2026-10-23'],
] as const)('a %s review of November 21 begins on %s', (period, first) => {
  expect(firstDayOf(period, day('2026-11-21'))).toBe(first);
});

const TODAY = day('2026-11-20');
const PERIODS = ['7-day', '30-day'] as const;

/** How many days ago the reviews of `length` ended that are shown for `period`. */
function shownEnds(period: ReviewPeriod, length: ReviewPeriod): number[] {
  const { firstFrom, lastFrom, firstTo } = storedReviewBounds(period, rangeOf(period, TODAY));
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

test.each([
  ['quarter', 0, '2026-10-01', '2026-11-20', 'Q4 2026 Hustle Review'],
  ['quarter', 1, '2026-07-01', '2026-09-30', 'Q3 2026 Hustle Review'],
  ['quarter', 4, '2025-10-01', '2025-12-31', 'Q4 2025 Hustle Review'],
  ['year', 0, '2026-01-01', '2026-11-20', '2026 Hustle Review'],
  ['year', 2, '2024-01-01', '2024-12-31', '2024 Hustle Review'],
] as const)('the %s %i back runs from %s to %s', (period, back, from, to, title) => {
  expect(rangeOf(period, TODAY, back)).toEqual({ from, to });
  expect(reviewTitle(period, day(from))).toBe(title);
});

test('the months of a range end with its last day', () => {
  expect(monthsOfRange(rangeOf('quarter', TODAY))).toEqual([
    { from: '2026-10-01', to: '2026-10-31' },
    { from: '2026-11-01', to: '2026-11-20' },
  ]);
  expect(monthsOfRange(rangeOf('year', TODAY, 1))).toHaveLength(12);
});

test.each([
  ['7-day', '2026-11-14', '2026-11-20', true],
  ['7-day', '2026-11-13', '2026-11-19', true],
  ['7-day', '2026-11-07', '2026-11-13', false],
  ['7-day', '2026-11-13', '2026-11-20', false],
  ['quarter', '2026-10-01', '2026-11-20', true],
  ['quarter', '2026-10-01', '2026-11-10', false],
  ['quarter', '2026-11-01', '2026-11-20', false],
  ['quarter', '2026-10-01', '2026-12-31', false],
  ['quarter', '2026-07-01', '2026-09-30', true],
  ['quarter', '2026-07-01', '2026-11-20', false],
  ['year', '2026-01-01', '2026-11-21', true],
  ['year', '2025-01-01', '2025-12-31', true],
  ['year', '2027-01-01', '2026-11-20', false],
] as const)('a %s from %s to %s is a review of November 20: %s', (period, from, to, expected) => {
  const [earliest, latest] = [day('2026-11-19'), day('2026-11-21')];
  expect(isReviewRange(period as ReviewPeriod, { from: day(from), to: day(to) }, earliest, latest)).toBe(expected);
});
