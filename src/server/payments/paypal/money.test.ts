import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { toAmountText, toMinor } from './money.ts';

test.each([
  [2400, '24.00'],
  [5, '0.05'],
  [0, '0.00'],
  [123456, '1234.56'],
])('converts %d cents to %s and back', (minor, text) => {
  expect(toAmountText(minor)).toBe(text);
  expect(toMinor(text)).toBe(minor);
});

test('converts every amount there and back', () => {
  fc.assert(
    fc.property(fc.nat(10 ** 12), (minor) => {
      expect(toMinor(toAmountText(minor))).toBe(minor);
    }),
    { numRuns: fuzzBudget(1000) },
  );
});

test.each([
  ['24', 2400],
  ['24.5', 2450],
])('accepts %s without two decimals', (text, minor) => {
  expect(toMinor(text)).toBe(minor);
});

test.each(['', '24.005', '-24.00', '+24.00', '24,00', '2e3', ' 24.00', '24.00 ', 'NaN', '1'.repeat(13), 24, null])(
  'rejects %j as an amount',
  (text) => {
    expect(toMinor(text)).toBeNull();
  },
);

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects %d cents', (minor) => {
  expect(() => toAmountText(minor)).toThrow(RangeError);
});
