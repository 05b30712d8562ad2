import { expect, test } from 'vitest';
import { day } from './day.ts';
import { initialDay } from './initial-day.ts';

const TODAY = day('2026-11-21');

test.each([
  ['free, whatever was written', false, day('2026-11-01'), TODAY],
  ['premium without logs', true, null, TODAY],
  ['premium with a gap: the first day to catch up on', true, day('2026-10-31'), day('2026-11-01')],
  ['premium up to yesterday', true, day('2026-11-20'), TODAY],
  ['premium who wrote today already', true, TODAY, TODAY],
])('%s', (_name, premium, latest, expected) => {
  expect(initialDay(premium, latest, TODAY)).toBe(expected);
});
