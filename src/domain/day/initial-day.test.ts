import { expect, test } from 'vitest';
import { day } from './day.ts';
import { initialDay } from './current-day.ts';

const TODAY = day('2026-11-21');

test.each([
  ['free: today', false, day('2026-11-01'), TODAY],
  ['premium without logs: today', true, null, TODAY],
  ['premium with a gap: the day after the latest log', true, day('2026-10-31'), day('2026-11-01')],
  ['premium with a log for yesterday: today', true, day('2026-11-20'), TODAY],
  ['premium with a log for today: today', true, TODAY, TODAY],
])('opens the journal for %s', (_name, premium, latest, expected) => {
  expect(initialDay(premium, latest, TODAY)).toBe(expected);
});
