import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { bulletsText, firstLines, reviewParts } from './win-bullets.ts';

test('the first line of each log that is no heading, oldest first', () => {
  const wins = firstLines([
    { date: day('2026-11-20'), html: '<h2>Work</h2><ol><li><p> Shipped billing </p></li><li><p>Paired</p></li></ol>' },
    { date: day('2026-11-02'), html: '<p>Wrote the test</p>' },
  ]);
  expect(bulletsText(wins)).toBe('- Nov 2, 2026: Wrote the test\n- Nov 20, 2026: Shipped billing');
});

test('quick entries and empty logs have no first line', () => {
  expect(
    firstLines([
      { date: day('2026-11-20'), html: '<p>I am sick</p>' },
      { date: day('2026-11-19'), html: '<p> </p>' },
    ]),
  ).toEqual([]);
});

test('a long line is cut at a word', () => {
  const [win] = firstLines([{ date: day('2026-11-20'), html: `<p>${'word '.repeat(60)}end</p>` }]);
  expect(win!.text).toMatch(/^(word )+word…$/);
  expect(win!.text.length).toBeLessThanOrEqual(161);
});

describe('an analysis that names its wins is taken at its word', () => {
  const wins = (analysis: string) => reviewParts(analysis).wins.map(({ date, text }) => `${date} ${text}`);

  test('oldest first, and however long they are', () => {
    const long = 'word '.repeat(60).trim();
    expect(
      wins(`Fine.\n\n**Wins**\n\n- 2026-11-20: **Shipped** what was due 2026-11-18\n* 2026-11-02 – ${long}`),
    ).toEqual([`2026-11-02 ${long}`, '2026-11-20 Shipped what was due November 18, 2026']);
  });

  test('other dated lines are no wins, whether they stand before or after', () => {
    const analysis = '- 2026-11-18: stuck\n**Wins:**\n- 2026-11-20: Shipped\nElse:\n- 2026-11-19: stuck';
    expect(wins(analysis)).toEqual(['2026-11-20 Shipped']);
  });

  test.each(['**Wins**: on 2026-11-20 you shipped.', '- 2026-11-20: stuck', '**Wins**\n- 2026-02-30: never'])(
    'and one without has none: %j',
    (analysis) => expect(wins(analysis)).toEqual([]),
  );

  test('they are taken out of its words, so that they stand once', () => {
    const analysis = '**Focus**: fewer meetings.\n\n**Wins**\n- 2026-11-20: Shipped\n\n- 2026-11-21: Paired\nElse.';
    expect(reviewParts(analysis).words).toBe('**Focus**: fewer meetings.\n\nElse.');
  });

  test('where it names none its words stay as they are', () => {
    const analysis = 'Nothing was finished.\n\n**Wins**\nNone.';
    expect(reviewParts(analysis)).toEqual({ words: analysis, wins: [] });
  });

  test('one that is being written down is no word of it yet', () => {
    const begun = '**Focus**: less.\n**Wins**\n- 2026-11-20: Shipped\n- 2026-11-2';
    expect(reviewParts(begun).words).toBe('**Focus**: less.');
  });
});
