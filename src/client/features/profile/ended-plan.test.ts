import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { endedPlan } from './ended-plan.ts';

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
  ['somebody who never paid', [], null],
  ['a year that runs', [paid('2026-11-21')], null],
  ['a year that ran out and is not swept yet', [paid('2026-11-20')], { kind: 'over', on: '2026-11-20' }],
  [
    'a year that was swept a day late',
    [free('expiry', '2026-11-12'), paid('2026-11-10')],
    { kind: 'over', on: '2026-11-10' },
  ],
  [
    'a plan that an operator ended',
    [free('operator revoke', '2026-03-01'), paid('2026-11-10')],
    { kind: 'over', on: '2026-03-01' },
  ],
  ['money that went back', [free('refund', '2025-11-12'), paid('2026-11-10')], { kind: 'paid back', on: '2025-11-12' }],
  [
    'a payment that the bank took back',
    [free('reversal', '2025-12-01'), paid('2026-11-10')],
    { kind: 'paid back', on: '2025-12-01' },
  ],
  ['a year bought after one that ended', [paid('2027-01-01'), free('expiry', '2025-12-01'), paid('2025-11-30')], null],
])('%s', (_whose, changes, ended) => {
  expect(endedPlan(changes, TODAY)).toEqual(ended);
});
