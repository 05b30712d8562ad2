import { expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { firstDayOf } from './review-period.ts';

test.each([
  ['7-day', '2026-11-15'],
  ['30-day', '2026-10-23'],
] as const)('a %s review of November 21 begins on %s', (period, first) => {
  expect(firstDayOf(period, day('2026-11-21'))).toBe(first);
});
