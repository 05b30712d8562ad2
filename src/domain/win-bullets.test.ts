import { expect, test } from 'vitest';
import { day } from './day.ts';
import { bulletsText, firstLines, namedWins } from './win-bullets.ts';

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

test('an analysis that names dated wins is taken at its word', () => {
  const analysis =
    '**Wins**:\n- 2026-11-20: **Shipped** billing\n* 2026-11-02 – Paired\n- 2026-02-30: never\n- no date: x';
  expect(namedWins(analysis)).toEqual([
    { date: '2026-11-02', text: 'Paired' },
    { date: '2026-11-20', text: 'Shipped billing' },
  ]);
  expect(namedWins('**Wins**: on 2026-11-20 you shipped billing.')).toEqual([]);
});
