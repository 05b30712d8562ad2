import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, addYears, day, daysBetween } from '../day/day.ts';
import { coolingOffRefusal, extendPlan, isOrderId, paidYearStart, revokeYear } from './payment.ts';

test.each([
  ['5O190127TN364715T', true],
  ['5O190127TN364715', false],
  ['5O190127TN364715TT', false],
  ['5o190127tn364715t', false],
  ['5O190127TN36471 T', false],
  ['5O190127TN364715T\n', false],
  ['', false],
  [17, false],
  [null, false],
])('isOrderId of %j is %s', (text, expected) => {
  expect(isOrderId(text)).toBe(expected);
});

describe('a paid year', () => {
  test.each([
    ['from today without a plan', null, '2026-11-21', '2027-11-21'],
    ['from today after a plan that has ended', '2026-11-20', '2026-11-21', '2027-11-21'],
    ['from the end of a plan that still runs', '2027-03-01', '2026-11-21', '2028-03-01'],
    ['to February 28 from a leap day', null, '2028-02-29', '2029-02-28'],
    ['to February 28 of a leap year', '2027-02-28', '2026-11-21', '2028-02-28'],
  ])('reaches %s', (_case, until, today, expected) => {
    expect(extendPlan(until === null ? null : day(until), day(today))).toBe(expected);
  });

  const days = fc.integer({ min: 0, max: 80_000 }).map((count) => addDays(day('1990-01-01'), count));
  test('that is revoked restores the previous end of the plan', () => {
    fc.assert(
      fc.property(days, fc.option(fc.integer({ min: -500, max: 900 })), (today, ahead) => {
        const before = ahead === null ? null : addDays(today, ahead);
        const from = paidYearStart(before, today);
        const until = extendPlan(before, today);
        const expected = before !== null && before > today ? before : null;
        expect(revokeYear(until, { from, until }, today)).toBe(expected);
      }),
    );
  });

  test('that is revoked leaves the end of the other years, whichever of them has a leap day', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: 2, max: 5 }), fc.nat(), (today, count, chosen) => {
        const ends = [today];
        while (ends.length <= count) ends.push(extendPlan(ends.at(-1)!, today));
        const revoked = chosen % count;
        const year = { from: ends[revoked]!, until: ends[revoked + 1]! };
        expect(revokeYear(ends[count]!, year, today)).toBe(ends[count - 1]);
      }),
    );
  });

  test('ends on the same date of a later year, except for leap days', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 8 }), (from, years) => {
        const to = addYears(from, years);
        expect([from.slice(5), '02-28']).toContain(to.slice(5));
        expect(Math.abs(daysBetween(from, to) - years * 365.25)).toBeLessThanOrEqual(1.75);
      }),
    );
  });
});

describe('withdrawal from a purchase', () => {
  const purchase = { country: 'DE', paidOn: day('2026-11-01'), analyses: 3, exports: 0 };
  const lastDay = day('2026-11-15');

  test('is allowed for 14 days in the EEA without significant use', () => {
    expect(coolingOffRefusal(purchase, lastDay)).toBeNull();
    expect(coolingOffRefusal({ ...purchase, country: 'NO' }, lastDay)).toBeNull();
  });

  test.each([
    ['country', { country: 'US' }, '2026-11-02'],
    ['country', { country: 'CH' }, '2026-11-02'],
    ['country', { country: null }, '2026-11-02'],
    ['time', {}, '2026-11-16'],
    ['analyses', { analyses: 4 }, '2026-11-02'],
    ['export', { exports: 1 }, '2026-11-02'],
  ])('is refused because of %s: %j on %s', (refusal, change, today) => {
    expect(coolingOffRefusal({ ...purchase, ...change }, day(today))).toBe(refusal);
  });
});
