import { expect, test } from 'vitest';
import { day } from './day.ts';
import { bulletsText, firstLines } from './win-bullets.ts';

test('the first line of each log, oldest first', () => {
  const wins = firstLines([
    { date: day('2026-11-20'), text: '\n  Shipped billing \nPaired' },
    { date: day('2026-11-02'), text: 'Wrote the test' },
  ]);
  expect(bulletsText(wins)).toBe('- Nov 2, 2026: Wrote the test\n- Nov 20, 2026: Shipped billing');
});

test('quick entries and empty logs are no wins', () => {
  expect(
    firstLines([
      { date: day('2026-11-20'), text: 'I am sick' },
      { date: day('2026-11-19'), text: ' \n ' },
    ]),
  ).toEqual([]);
});

test('a long line is cut at a word', () => {
  const [win] = firstLines([{ date: day('2026-11-20'), text: `${'word '.repeat(60)}end` }]);
  expect(win!.text).toMatch(/^(word )+word…$/);
  expect(win!.text.length).toBeLessThanOrEqual(161);
});
