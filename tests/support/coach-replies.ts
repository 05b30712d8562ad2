/** Replies of the coach's model, and random texts for them, for tests of the parsers. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import { OBJECT_MANNERS, REPLY_MANNERS, SCORE_LINE_MANNERS } from '../../simulators/ai-model/manners.ts';
import { fuzzBudget } from './fuzz-budget.ts';

/** Finds the citations of a log whose lines the page numbers 1, 2 and 2.1, and of its unnumbered last paragraph. */
export const FIND = createCitationFinder(
  citableLines('<ol><li><p>Shipped</p></li><li><p>Tests</p><ol><li><p>Unit</p></li></ol></li></ol><p>Called Ann</p>'),
);
export const reply = (fields: object): string =>
  JSON.stringify({ score: 7, feedback: 'You shipped it [1].', cited: ['1'], missingFact: '', ...fields });

/** Every combination of a reply in its form, dressed in a manner of that form and in one of any reply. */
export const DRESSED = [
  ...Object.entries(OBJECT_MANNERS).map(([name, dress]) => [
    `an object ${name}`,
    (score: number, feedback: string) => dress(reply({ score, feedback, missingFact: 'How many users?' })),
  ]),
  ...SCORE_LINE_MANNERS.map((line) => [
    `a text with "${line(7)}"`,
    (score: number, feedback: string) => `${line(score)}\n\n${feedback}\n\nMissingFact: How many users?`,
  ]),
] as [string, (score: number, feedback: string) => string][];

export const prefixes = (text: string): string[] => Array.from(text, (_, length) => text.slice(0, length));

export const TEXT = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom(
        ' [1]',
        '[2, 9]',
        '[2.1]',
        '[Called ',
        'Ann]',
        ' [9]',
        '[',
        ']',
        '[1,',
        '  ',
        '\n',
        '\u200b',
        '\u200c',
        '\u2028',
        '👩‍👩‍👧',
        '[12345]',
        '\ud83d',
        'HustleScore: 3/10\n',
        '\nMissingFact: ',
        '\n- ',
        '2026-11-20',
        '2026-11-19',
        ': ',
        '**',
        '\n**Wins**\n',
        '\n**Wins:',
      ),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));
export const MARKERS = [
  '\n<think>',
  '</think>\n',
  '<thi',
  '\n[THINK]x[/THINK]',
  '<|im_end|>\n',
  '<|channel|>',
  '\n<|channel|>analysis<|message|>x<|end|>',
  '<|start|>assistant<|channel|>final<|message|>',
  '\n<answer>',
  '</answer>\n',
  '```\n',
  ' a < b ',
  '\n{"score": 7}',
  '\nScore: 3/10\n',
];
export const CUTS = fc.array(fc.nat(300), { maxLength: 10 });
export const RUNS = { numRuns: fuzzBudget(2_000) };

export const MANNERS = fc.constantFrom(...Object.values(REPLY_MANNERS));

/** For any cuts, each partial text must extend the previous one and the final text must extend the last. */
export function expectAppendOnly(
  text: string,
  cuts: number[],
  parse: (text: string) => string,
  final: string | null,
): void {
  let previous = '';
  for (const cut of [...cuts, text.length].filter((at) => at <= text.length).toSorted((a, b) => a - b)) {
    const next = parse(text.slice(0, cut));
    expect(next.startsWith(previous)).toBe(true);
    previous = next;
  }
  if (final !== null) expect(final.startsWith(previous)).toBe(true);
}
