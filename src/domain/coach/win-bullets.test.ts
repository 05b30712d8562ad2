import { describe, expect, test } from 'vitest';
import { day } from '../day/day.ts';
import { firstLines, formatBullets, splitReview } from './win-bullets.ts';

test('firstLines returns the first reported line of each log, oldest first', () => {
  const wins = firstLines([
    { date: day('2026-11-20'), html: '<h2>Work</h2><ol><li><p> Shipped billing </p></li><li><p>Paired</p></li></ol>' },
    { date: day('2026-11-02'), html: '<p>Wrote the test</p>' },
  ]);
  expect(formatBullets(wins)).toBe('- Nov 2, 2026: Wrote the test\n- Nov 20, 2026: Shipped billing');
});

test('firstLines skips quick entries and empty logs', () => {
  expect(
    firstLines([
      { date: day('2026-11-20'), html: '<p>I am sick</p>' },
      { date: day('2026-11-19'), html: '<p> </p>' },
    ]),
  ).toEqual([]);
});

test('firstLines truncates a long line at a word', () => {
  const [win] = firstLines([{ date: day('2026-11-20'), html: `<p>${'word '.repeat(60)}end</p>` }]);
  expect(win!.text).toMatch(/^(word )+word…$/);
  expect(win!.text.length).toBeLessThanOrEqual(161);
});

describe('splitReview', () => {
  const wins = (analysis: string) => splitReview(analysis).wins.map(({ date, text }) => `${date} ${text}`);

  test('returns the wins oldest first, without truncation', () => {
    const long = 'word '.repeat(60).trim();
    expect(
      wins(`Fine.\n\n**Wins**\n\n- 2026-11-20: **Shipped** what was due 2026-11-18\n* 2026-11-02 – ${long}`),
    ).toEqual([`2026-11-02 ${long}`, '2026-11-20 Shipped what was due November 18, 2026']);
  });

  test.each([
    '**WINS**',
    '## Wins',
    '### **wins:**',
    'Wins:',
    '__Wins__',
    '🏆 **Wins** 🏆',
    '4. **Wins**',
    '**Wins：**',
    '**Wins** (3)',
    '**Your wins of the week**',
    '### Key Wins',
    '**Erfolge**',
    '## 成果 (Wins)',
  ])('accepts the heading %j', (heading) =>
    expect(wins(`Fine.\n\n${heading}\n- 2026-11-20: Shipped`)).toEqual(['2026-11-20 Shipped']),
  );

  test.each([
    '- 2026-11-20: Shipped',
    '- 2026-11-20：Shipped',
    '- **2026-11-20:** Shipped',
    '- **2026-11-20** Shipped',
    '* _2026-11-20_ — Shipped',
    '• 2026-11-20 – Shipped',
    '+ 2026-11-20 - Shipped',
    '- 2026-11-20, Shipped',
    '- 2026-11-20 | Shipped',
    '- 2026-11-20 -> Shipped',
    '- 2026-11-20 → Shipped',
    '- (2026-11-20) Shipped',
    '- [2026-11-20]: Shipped',
    '- `2026-11-20`: Shipped',
    '- 2026‑11‑20: Shipped',
    '1. 2026-11-20: Shipped',
    '2026-11-20: Shipped',
    '- 2026-11-20 Shipped',
    '- 2026-11-20: **Shipped**',
    '- 2026/11/20: Shipped',
    '- 2026.11.20: Shipped',
    '- 2026-11-20 (Fri): Shipped',
    '- **2026-11-20 (Fri.)**: Shipped',
    '> - 2026-11-20: Shipped',
    '✅ 2026-11-20: Shipped',
    '- 🏆 **2026-11-20**: Shipped',
    '- Friday, 2026-11-20: Shipped',
    '- **Fri., 2026-11-20** – Shipped',
    '- 2026-11-20:\n  - Shipped',
    '- **2026-11-20**\n  Shipped',
    '| Date | Win |\n|---|---|\n| 2026-11-20 | Shipped |',
  ])('reads the win %j', (line) => {
    expect(wins(`Fine.\n\n**Wins**\n${line}`)).toEqual(['2026-11-20 Shipped']);
  });

  test.each([
    ['- 2026-11-20: -5 kg', '-5 kg'],
    ['- 2026-11-20: $5,000 from "Ann"', '$5,000 from "Ann"'],
    ['- 2026-11-20: 42', '42'],
  ])('keeps the signs of the win %j', (line, text) => {
    expect(wins(`Fine.\n\n**Wins**\n${line}`)).toEqual([`2026-11-20 ${text}`]);
  });

  test('joins the lines of a win', () => {
    expect(wins('**Wins**\n- 2026-11-20: Shipped the\n  billing page\n- 2026-11-21: Paired')).toEqual([
      '2026-11-20 Shipped the billing page',
      '2026-11-21 Paired',
    ]);
  });

  test.each(['Else:\n- 2026-11-20: stuck', '**Obstacles**\n- 2026-11-20: stuck\n\n**Focus**: less.'])(
    'takes no other dated list for wins: %j',
    (analysis) => expect(wins(analysis)).toEqual([]),
  );

  test('ignores dated lines before and after the list of wins', () => {
    const analysis = '- 2026-11-18: stuck\n**Wins:**\n- 2026-11-20: Shipped\nElse:\n- 2026-11-19: stuck';
    expect(wins(analysis)).toEqual(['2026-11-20 Shipped']);
  });

  test.each(['**Wins**: on 2026-11-20 you shipped.', '- 2026-11-20: stuck', '**Wins**\n- 2026-02-30: never'])(
    'returns no wins for %j',
    (analysis) => expect(wins(analysis)).toEqual([]),
  );

  test('removes the wins from the text', () => {
    const analysis = '**Focus**: fewer meetings.\n\n**Wins**\n- 2026-11-20: Shipped\n\n- 2026-11-21: Paired\nElse.';
    expect(splitReview(analysis).text).toBe('**Focus**: fewer meetings.\n\nElse.');
  });

  test('keeps the text of an analysis without wins', () => {
    const analysis = 'Nothing was finished.\n\n**Wins**\nNone.';
    expect(splitReview(analysis)).toEqual({ text: analysis, wins: [] });
  });

  test('removes an incomplete win from the text while it is streamed', () => {
    const partial = '**Focus**: less.\n**Wins**\n- 2026-11-20: Shipped\n- 2026-11-2';
    expect(splitReview(partial).text).toBe('**Focus**: less.');
  });
});
