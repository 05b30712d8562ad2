import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { firstOpenDay, isLocked, isPremium } from './plan.ts';

const today = day('2026-11-21');

describe('isPremium', () => {
  test.each([
    ['premium', '2026-11-22', true],
    ['premium', '2026-11-21', true], // the last valid day counts
    ['premium', '2026-11-20', false],
    ['premium', null, true], // granted without an end
    ['free', '2030-01-01', false],
    ['free', null, false],
  ] as const)('%s valid until %s is %s', (subscription_plan, until, expected) => {
    const access_valid_until = until === null ? null : day(until);
    expect(isPremium({ subscription_plan, access_valid_until }, today)).toBe(expected);
  });
  test('a user without a profile is not premium', () => {
    expect(isPremium(null, today)).toBe(false);
    expect(isPremium(undefined, today)).toBe(false);
  });
});

describe('the free plan opens thirty days, including today', () => {
  test('the first open day is 29 days before today', () => {
    expect(firstOpenDay(false, today)).toBe('2026-10-23');
    expect(isLocked(day('2026-10-23'), false, today)).toBe(false);
    expect(isLocked(day('2026-10-22'), false, today)).toBe(true);
  });
  test('premium opens every day', () => {
    expect(firstOpenDay(true, today)).toBeNull();
    expect(isLocked(day('1990-01-01'), true, today)).toBe(false);
  });
});
