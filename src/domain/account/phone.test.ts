import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePhone } from './account.ts';

test.each([
  ['+1 (555) 012-3456', '+15550123456'],
  ['0049 151 / 234.567', '+49151234567'],
  ['＋４９ １５１ ２３４５６７８', '+491512345678'],
])('reads %s', (typed, number) => expect(parsePhone(typed)).toBe(number));

test.each(['', '555 012 3456', '+0151234567', '+49 15', '+1234567890123456', '+49 abc 1512345'])(
  'refuses %s',
  (typed) => expect(parsePhone(typed)).toBeNull(),
);

test('reads only E.164 numbers out of any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (typed) => {
      const number = parsePhone(typed);
      expect(number === null || /^\+[1-9]\d{6,14}$/.test(number)).toBe(true);
    }),
  );
});
