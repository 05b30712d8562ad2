import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lengthened } from '../../../../tests/support/long-form.ts';
import { toAmountText, toMinor } from './money.ts';

test.each([
  [2400, '24.00'],
  [5, '0.05'],
  [0, '0.00'],
  [123456, '1234.56'],
])('%d cents are %s', (minor, text) => {
  expect(toAmountText(minor)).toBe(text);
  expect(toMinor(text)).toBe(minor);
});

test('every amount comes back as it was', () => {
  fc.assert(
    fc.property(fc.nat(10 ** 12), (minor) => {
      expect(toMinor(toAmountText(minor))).toBe(minor);
    }),
    { numRuns: lengthened(1000) },
  );
});

test.each([
  ['24', 2400],
  ['24.5', 2450],
])('%s lacks decimals and is an amount all the same', (text, minor) => {
  expect(toMinor(text)).toBe(minor);
});

test.each(['', '24.005', '-24.00', '+24.00', '24,00', '2e3', ' 24.00', '24.00 ', 'NaN', '1'.repeat(13), 24, null])(
  '%j is no amount',
  (text) => {
    expect(toMinor(text)).toBeNull();
  },
);

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('%d cents are refused', (minor) => {
  expect(() => toAmountText(minor)).toThrow(RangeError);
});
