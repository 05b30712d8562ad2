import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { findEndedPlan } from './subscription.tsx';

const TODAY = day('2026-11-21');
const at = (date: string) => `${date}T12:00:00`;
const paid = (until: string) => ({
  plan: 'premium' as const,
  access_valid_until: day(until),
  reason: 'payment',
  changed_at: at('2025-11-10'),
});
const free = (reason: string, on: string) => ({
  plan: 'free' as const,
  access_valid_until: null,
  reason,
  changed_at: at(on),
});

test.each([
  ['null for a user who never paid', [], null],
  ['null for a year that has not ended', [paid('2026-11-21')], null],
  [
    'the last day of an expired year that is not recorded yet',
    [paid('2026-11-20')],
    { kind: 'expired', on: '2026-11-20' },
  ],
  [
    'the last day of an expired year that was recorded later',
    [free('expiry', '2026-11-12'), paid('2026-11-10')],
    { kind: 'expired', on: '2026-11-10' },
  ],
  [
    'the day on which an operator ended the plan',
    [free('operator revoke', '2026-03-01'), paid('2026-11-10')],
    { kind: 'expired', on: '2026-03-01' },
  ],
  ['the day of a refund', [free('refund', '2025-11-12'), paid('2026-11-10')], { kind: 'returned', on: '2025-11-12' }],
  [
    'the day of a reversal',
    [free('reversal', '2025-12-01'), paid('2026-11-10')],
    { kind: 'returned', on: '2025-12-01' },
  ],
  [
    'null for a year bought after an expired one',
    [paid('2027-01-01'), free('expiry', '2025-12-01'), paid('2025-11-30')],
    null,
  ],
])('returns %s', (_case, changes, ended) => {
  expect(findEndedPlan(changes, TODAY)).toEqual(ended);
});
