import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unicodeText } from '../../../../tests/support/unicode-text.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { AuthError } from './errors.ts';
import { isInAllowedCountry, parsePhone } from './credentials.ts';

test.each([
  ['+4915112345678', '4915112345678'],
  ['4915112345678', '4915112345678'],
  ['+49 151 12345678', '4915112345678'],
  ['+1 500 555 0006', '15005550006'],
  ['+123456789012345', '123456789012345'],
  ['2901234', '2901234'],
])('reads %s as %s', (input, digits) => {
  expect(parsePhone(input)).toBe(digits);
});

test.each([
  ['', '+', '123456', '+1234567890123456', '0151123456', '+0151123456', '++4915112345678', '4915112345678+'],
  ['+49(0)15112345678', '+49-151-12345678', '+4915112345678 x1', 'tel:+4915112345678', '+49\t15112345678'],
  [
    '+49\n15112345678',
    '+٤٩١٥١١٢٣٤٥',
    '+４９１５１１２３４５',
    '+49151\u200b12345678',
    '+49\u00a015112345678',
    '4.9e12',
  ],
])('rejects %j and its like', (...inputs) => {
  for (const input of inputs) expect(() => parsePhone(input), JSON.stringify(input)).toThrow(AuthError);
});

const number = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.stringMatching(/^[0-9]{6,14}$/))
  .map((parts) => parts.join(''));

test('reads every number in every accepted spelling', () => {
  fc.assert(
    fc.property(number, fc.boolean(), fc.array(fc.nat(14), { maxLength: 5 }), (digits, hasPlus, gaps) => {
      const spaced = digits
        .split('')
        .map((digit, index) => (gaps.includes(index) ? `${digit} ` : digit))
        .join('');
      expect(parsePhone(`${hasPlus ? '+' : ''}${spaced}`)).toBe(digits);
    }),
    { numRuns: fuzzBudget(500) },
  );
});

test('returns plain digits or throws an AuthError for any text', () => {
  const text = fc.oneof(unicodeText(), fc.string({ unit: fc.constantFrom('+', '0', '1', '9', ' ', '٣', '\n', '-') }));
  fc.assert(
    fc.property(text, (input) => {
      try {
        expect(parsePhone(input)).toMatch(/^[1-9][0-9]{6,14}$/);
      } catch (error) {
        expect(error).toBeInstanceOf(AuthError);
      }
    }),
    { numRuns: fuzzBudget(1000) },
  );
});

test('finds the country of a number among the listed codes', () => {
  const countries = ['+49', '+43'];
  expect(isInAllowedCountry('4915112345678', { countries })).toBe(true);
  expect(isInAllowedCountry('4315112345678', { countries })).toBe(true);
  expect(isInAllowedCountry('4415112345678', { countries })).toBe(false);
  expect(isInAllowedCountry('1495551234', { countries })).toBe(false);
  expect(isInAllowedCountry('4415112345678', { countries: [] })).toBe(true);
});
