import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, day, FIRST_DAY } from '../day/day.ts';
import { promptOf, PROMPTS } from './prompts.ts';

test('ten days in a row have ten questions, and the eleventh begins again', () => {
  fc.assert(
    fc.property(fc.nat(3_000_000), (count) => {
      const date = addDays(FIRST_DAY, count);
      const asked = Array.from({ length: 10 }, (_, index) => promptOf(addDays(date, index)));
      expect(new Set(asked)).toEqual(new Set(PROMPTS));
      expect(promptOf(addDays(date, 10))).toBe(promptOf(date));
    }),
  );
});

test('a question is one short line without an exclamation mark', () => {
  expect(PROMPTS.filter((text) => text.length > 60 || !/^[A-Z].*[^?!]\?$/.test(text))).toEqual([]);
  expect(promptOf(day('2026-11-28'))).toBe(promptOf(day('2026-11-28')));
});
