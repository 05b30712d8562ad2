import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { parseScoredText, readScore } from './score-line.ts';

const FEEDBACK = 'You shipped the importer. That counts.';

/** Null without a valid score. */
function read(text: string): { score: number; feedback: string; fact: string | null } | null {
  const { score, text: feedback, missingFact: fact, isInvalid } = parseScoredText(text, true);
  return score === null || isInvalid ? null : { score, feedback, fact };
}

describe('a score line', () => {
  test.each([
    [`HustleScore: 7/10\n\n${FEEDBACK}`, 7],
    [`**HustleScore: 10/10**\n${FEEDBACK}`, 10],
    [`**HustleScore:** 1 / 10\n${FEEDBACK}`, 1],
    [`## hustlescore: 3/10.\r\n${FEEDBACK}`, 3],
    [`${FEEDBACK}\nHustleScore: 7/10`, 7],
    [`HustleScore: 7/10\n${FEEDBACK}\nHustleScore: 7/10`, 7],
  ])('is parsed: %j', (text, score) => {
    expect(read(text)).toEqual({ score, feedback: FEEDBACK, fact: null });
  });

  test.each([
    ['missing', FEEDBACK],
    ['out of range', `HustleScore: 0/10\n${FEEDBACK}`],
    ['out of range', `HustleScore: 11/10\n${FEEDBACK}`],
    ['of another scale', `HustleScore: 7/100\n${FEEDBACK}`],
    ['not a number', `HustleScore: high/10\n${FEEDBACK}`],
    ['in the middle of a sentence', `You wrote "HustleScore: 10/10" yourself.\n${FEEDBACK}`],
    ...['or eight', '(maybe 8)', ', eight with tests', 'oder 8', '或 8', '- 8/10', ', 8', '| 8'].map(
      (other): [string, string] => ['beside another one', `HustleScore: 7/10 ${other}\n${FEEDBACK}`],
    ),
    ['repeated with another score', `HustleScore: 10/10\n${FEEDBACK}\nHustleScore: 2/10`],
  ])('gives no score if it is %s: %j', (_what, text) => {
    expect(read(text)).toBeNull();
  });
});

describe('words on the score line', () => {
  test.each([
    ['HustleScore: 7/10 - You shipped it.', 'You shipped it.'],
    ['**HustleScore: 7/10** because **you** shipped it, 12 of 40.', 'because **you** shipped it, 12 of 40.'],
    ['HustleScore: 7/10 (Solid). You shipped it.', 'You shipped it.'],
    ['HustleScore: 7/10, or so.', 'or so.'],
    ['HustleScore: 7/10. Two items shipped, or eight.', 'Two items shipped, or eight.'],
    ['🔥 HustleScore: 7/10 🔥', ''],
    [`HustleScore: 7/10 ${'You shipped it. '.repeat(20)}`, 'You shipped it. '.repeat(20).trim()],
  ])('are feedback, a remark in parentheses is not: %j', (line, words) => {
    const feedback = [words, FEEDBACK].filter((text) => text !== '').join('\n\n');
    expect(read(`${line}\n\n${FEEDBACK}`)).toEqual({ score: 7, feedback, fact: null });
  });
});

test.each([
  [7, 7],
  [7.5, 7],
  [7.6, 8],
  ['7', 7],
  ['7/10', 7],
  ['**8** out of 10 (strong)', 8],
  ['7,5', 7],
  [0.9, null],
  [10.5, null],
  ['7/100', null],
  ['7 or 8', null],
  ['7, or eight', null],
  ['7, oder acht', null],
  ['7 (maybe 8)', null],
  ['7 — eight at best', null],
  ['7, または八', null],
  ['7点か8点', null],
  ['7 (seven)', 7],
  ['7 or so', null],
  ['7. Eight items shipped.', 7],
  ['7 - a solid day, one gap', 7],
  ['seven', 7],
  ['', null],
  [null, null],
  [[7], 7],
])('readScore reads %j as %j', (value, expected) => {
  expect(readScore(value)).toBe(expected);
});

describe('a missing fact', () => {
  test.each([
    ['MissingFact: How many users it has.', 'How many users it has.'],
    ['**MissingFact:** How many **users** it has.\r', 'How many users it has.'],
    ['**Missing fact: How many users it has.**', 'How many users it has.'],
    [`MissingFact: ${'how many '.repeat(20)}`, 'how many '.repeat(20).trim()],
    ['MissingFact: How many.\nMissingFact: How many.', 'How many.'],
    ['MissingFact:', null],
    ['MissingFact: How many.\nMissingFact: Nothing, it was perfect.', null],
  ])('is parsed from its line and removed from the feedback: %j', (lines, fact) => {
    expect(read(`HustleScore: 7/10\n\n${FEEDBACK}\n\n${lines}`)).toEqual({ score: 7, feedback: FEEDBACK, fact });
    expect(read(`${lines}\nHustleScore: 7/10\n${FEEDBACK}`)).toEqual({ score: 7, feedback: FEEDBACK, fact });
  });

  test('is not parsed from a sentence', () => {
    const feedback = 'The MissingFact: how many users it has.';
    expect(read(`HustleScore: 7/10\n${feedback}`)).toEqual({ score: 7, feedback, fact: null });
  });
});

const LINES = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 120 }),
    fc.integer({ min: 0, max: 99 }).map((score) => `HustleScore: ${score}/10`),
    fc.constantFrom('## HustleScore', '8/10', '**8**', '```', 'Hustle-Score = 7,5／10 (Solid) and more', '｜7 / 10'),
    fc.constantFrom('', '**HustleScore: 7/10**', 'HustleScore:', ' ', 'HustleScore: 7/10 because', 'x'.repeat(100)),
    fc.constantFrom('MissingFact: none', `- **MissingFact** : ${'y'.repeat(100)}`, `${'-'.repeat(90)}MissingFact: z`),
  ),
  { maxLength: 12 },
);
const RUNS = { numRuns: fuzzBudget(1_000) };

/** Digits of the other scripts and shapes that are read as a score. */
const withAsciiDigits = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[٠-٩۰-۹०-९০-৯]/g, (digit) => String((digit.charCodeAt(0) - (digit < '०' ? 0 : 6)) % 16));

test('a score is in range, from a line of the reply, and its line is not part of the feedback', () => {
  fc.assert(
    fc.property(LINES, (lines) => {
      const parsed = read(lines.join('\n'));
      if (!parsed) return;
      expect(parsed.score).toBeGreaterThanOrEqual(1);
      expect(parsed.score).toBeLessThanOrEqual(10);
      expect(withAsciiDigits(lines.join('\n'))).toMatch(new RegExp(`(?<!\\d)0?${parsed.score}(?!\\d)`));
      expect(read(`Words.\n${parsed.feedback}`)).toBeNull();
    }),
    RUNS,
  );
});

test('the parsed text is append-only while the reply is streamed', () => {
  fc.assert(
    fc.property(LINES, fc.array(fc.nat(400), { maxLength: 8 }), (lines, cuts) => {
      const reply = lines.join('\n');
      let before = '';
      for (const cut of [...cuts.toSorted((a, b) => a - b).map((at) => Math.min(at, reply.length)), reply.length]) {
        const { text } = parseScoredText(reply.slice(0, cut), cut === reply.length);
        expect(text.startsWith(before)).toBe(true);
        before = text;
      }
    }),
    RUNS,
  );
});
