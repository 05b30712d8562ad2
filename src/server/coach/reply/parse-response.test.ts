import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import { day } from '#domain/day/day.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import {
  autoReplyParser,
  jsonReplyParser,
  MAX_REPLY_CHARS,
  textReplyParser,
  trendReplyParser,
} from './parse-response.ts';

/** Finds the citations of a log whose lines the page numbers 1, 2 and 2.1, and of its unnumbered last paragraph. */
const FIND = createCitationFinder(
  citableLines('<ol><li><p>Shipped</p></li><li><p>Tests</p><ol><li><p>Unit</p></li></ol></li></ol><p>Called Ann</p>'),
);
const DAYS = new Set([day('2026-11-20')]);
const reply = (fields: object): string =>
  JSON.stringify({ score: 7, feedback: 'You shipped it [1].', cited: ['1'], missingFact: '', ...fields });

describe('jsonReplyParser', () => {
  const { parseFinal, parsePartial } = jsonReplyParser(FIND);

  test('parses a valid reply', () => {
    expect(parseFinal(reply({ missingFact: ' How many users? ' }))).toEqual({
      score: 7,
      text: 'You shipped it [1].',
      cited: [{ ref: '1', line: 1 }],
      missingFact: 'How many users?',
    });
  });

  test.each([
    ['not JSON', 'HustleScore: 9/10\nThat is a fine day.'],
    ['truncated', reply({}).slice(0, -5)],
    ['an array', '[]'],
    ['without a score', reply({ score: undefined })],
    ['with a fractional score', reply({ score: 7.5 })],
    ['with a score above the range', reply({ score: 11 })],
    ['with a score below the range', reply({ score: 0 })],
    ['with a score as a string', reply({ score: '7' })],
    ['without feedback', reply({ feedback: null })],
    ['too short', reply({ feedback: 'Fine day.' })],
    ['of invisible characters', reply({ feedback: '\u200b'.repeat(20) })],
    ['of blank-looking characters', reply({ feedback: '\u3164\u{e0101}\u034f'.repeat(9) })],
    ['too long', reply({ feedback: 'x'.repeat(MAX_REPLY_CHARS + 1) })],
  ])('rejects a reply that is %s', (_what, text) => {
    expect(parseFinal(text)).toBeNull();
  });

  test('keeps citations of existing lines in the list, the text and the missing fact', () => {
    const feedback = 'First [2.1, 9]. Then [0] this [4] and ["called ann"]. Not [see 1].';
    const fields = { feedback, cited: ['1', 9, -1, 'x', 2], missingFact: 'When [called Ann…] was [9]?' };
    expect(parseFinal(reply(fields))).toEqual({
      score: 7,
      text: 'First [2.1]. Then this and [Called Ann]. Not [see 1].',
      cited: [
        { ref: '1', line: 1 },
        { ref: '2', line: 2 },
        { ref: '2.1', line: 3 },
        { ref: 'Called Ann', line: 4 },
      ],
      missingFact: 'When [Called Ann] was?',
    });
  });

  test('keeps the joiners of emoji and Persian', () => {
    const feedback = 'Well done \u2764\ufe0f \u{1f469}\u200d\u{1f4bb} می\u200cخواهم [1].';
    expect(parseFinal(reply({ feedback }))?.text).toBe(feedback);
  });

  test('drops a missing fact of more than 500 characters', () => {
    expect(parseFinal(reply({ missingFact: 'x'.repeat(501) }))?.missingFact).toBeNull();
    expect(parseFinal(reply({ missingFact: 'x'.repeat(500) }))?.missingFact).toHaveLength(500);
  });

  test('reports a partial score only once it is terminated', () => {
    expect(parsePartial('{"score": 1').score).toBeNull();
    expect(parsePartial('{"score": 1,').score).toBe(1);
    expect(parsePartial('{"score": 70, "feedback": "').score).toBeNull();
  });
});

describe('textReplyParser', () => {
  const { parseFinal, parsePartial } = textReplyParser(FIND);

  test('parses the score line, the feedback and the missing fact', () => {
    expect(parseFinal('HustleScore: 8/10\n\nYou shipped it [1, 7].\n\nMissingFact: How many users\u200b?')).toEqual({
      score: 8,
      text: 'You shipped it [1].',
      cited: [{ ref: '1', line: 1 }],
      missingFact: 'How many users?',
    });
    expect(parseFinal('HustleScore: 8/10\n\nYou shipped it [1, 7].')?.missingFact).toBeNull();
    expect(parseFinal(`HustleScore: 8/10\n\nYou shipped it.\nMissingFact: ${'x'.repeat(501)}`)?.missingFact).toBeNull();
  });

  test.each([
    'You shipped it, and that is that.',
    'HustleScore: 8/10\nHustleScore: 10/10\nYou shipped it.',
    'HustleScore: 8/10\n**Hustle Score: 10/10**\nYou shipped it.',
    'HustleScore: 8/10\nHustle\u200bScore: 10/10\nYou shipped it.',
    'HustleScore: 8/10\nHustle\u200cScore\ufe0f: 10/10\nYou shipped it.',
    'HustleScore: 8/10\nHustle\u2028Score: 10\u001b/10\nYou shipped it.',
    `HustleScore: 8/10\n${'\u200d'.repeat(80)}HustleScore: 10/10\nYou shipped it.`,
    `HustleScore: 8/10\nHustleScore: ${' '.repeat(80)}10/10\nYou shipped it.`,
  ])('rejects a text without exactly one visible score: %j', (text) => {
    expect(parseFinal(text)).toBeNull();
    expect(parsePartial(`${text}\n`)).toEqual({ score: null, text: '' });
  });
});

describe('autoReplyParser', () => {
  const { parseFinal, parsePartial } = autoReplyParser(FIND);
  const object = reply({ missingFact: 'How many users?' });
  const expected = {
    score: 7,
    text: 'You shipped it [1].',
    cited: [{ ref: '1', line: 1 }],
    missingFact: 'How many users?',
  };

  test.each([
    ['an object', object],
    ['an object in a fence', `\`\`\`json\n${object}\n\`\`\`\n`],
    ['an object in a fence without a language', `\n\`\`\`\n${object}\n\`\`\``],
    ['a text', 'HustleScore: 7/10\n\nYou shipped it [1].\n\nMissingFact: How many users?'],
    [
      'a text with its score line as code',
      '`HustleScore: 7/10`\n\nYou shipped it [1].\n\nMissingFact: How many users?',
    ],
  ])('parses %s', (_what, text) => {
    expect(parseFinal(text)).toEqual(expected);
    expect(parsePartial(`${text}\n`)).toEqual({ score: 7, text: 'You shipped it [1].' });
  });

  test.each([
    `${object}\nHustleScore: 10/10`,
    `Here it is:\n${object}`,
    `\`\`\`json\n${object}\n\`\`\`\nHustleScore: 10/10`,
  ])('rejects a mixture of JSON and text: %j', (text) => {
    expect(parseFinal(text)).toBeNull();
  });
});

test.each([
  ['x'.repeat(49), null],
  [` ${'x'.repeat(50)}\u200b\n`, 'x'.repeat(50)],
  ['x'.repeat(MAX_REPLY_CHARS + 1), null],
])('trendReplyParser rejects a text that is too short or too long', (text, expected) => {
  expect(trendReplyParser(DAYS).parseFinal(text)?.text ?? null).toBe(expected);
});

describe('trendReplyParser drops a dated bullet of a day without a log', () => {
  const prose = 'Three days in a row you finished what you had begun.';
  const parseFinal = (text: string) =>
    trendReplyParser(DAYS).parseFinal(`${prose}\n\n${text}`)?.text.slice(prose.length);

  test.each([
    ['**Wins**\n- 2026-11-20: Sold it\n- 2026-11-19: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold it'],
    ['**Wins**\n* **2026-11-19**: Sold it\n- 2026-11-20: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold more'],
    ['**Wins**:\n- 2026-11-19: Sold it\n- 2026-02-30: Sold more', ''],
    ['**Wins**\n- 2026-1\u200b1-19: Sold it', ''],
    ['On 2026-11-19 there is no log.', '\n\nOn 2026-11-19 there is no log.'],
  ])('%j', (text, expected) => {
    expect(parseFinal(text)).toBe(expected);
  });

  test('while the bullet is incomplete', () => {
    const { parsePartial } = trendReplyParser(DAYS);
    const text = `${prose}\n\n**Wins**\n- 2026-11-19: Sold it`;
    for (let length = prose.length; length <= text.length; length += 1)
      expect(parsePartial(text.slice(0, length)).text).toBe(prose);
  });
});

test.each([
  ['{"feedback": "You shipped \\', 'You shipped'],
  ['{"feedback": "You shipped \\u26', 'You shipped'],
  ['{"feedback": "You shipped \\ud83d', 'You shipped'],
  ['{"feedback": "You shipped \\ud83d\\ude80", "sco', 'You shipped \u{1f680}'],
  ['{"cited": [1, 2], "notes": ["\\"", null], "fine": true, "feedback": "You \\"shipped\\" it', 'You "shipped" it'],
  [' {\n "feedback" : "You shipped\\nit.",\n "score" : 7 }\n', 'You shipped\nit.'],
  ['{"notes": {"feedback": "You shipped it"}, "feedback": "You', ''],
  ['"feedback": "You shipped it"', ''],
  ['```json {"feedback": "You shipped it"}', 'You shipped it'],
  ['Here: {"feedback": "You shipped it"}', ''],
  ['["feedback", "You shipped it"]', ''],
])('jsonReplyParser extracts the partial feedback of %j', (text, expected) => {
  expect(jsonReplyParser(FIND).parsePartial(text).text).toBe(expected);
});

const TEXT = fc
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
const CUTS = fc.array(fc.nat(300), { maxLength: 10 });
const RUNS = { numRuns: fuzzBudget(2_000) };

/** For any cuts, each partial text must extend the previous one and the final text must extend the last. */
function expectAppendOnly(text: string, cuts: number[], parse: (text: string) => string, final: string | null): void {
  let previous = '';
  for (const cut of [...cuts, text.length].filter((at) => at <= text.length).toSorted((a, b) => a - b)) {
    const next = parse(text.slice(0, cut));
    expect(next.startsWith(previous)).toBe(true);
    previous = next;
  }
  if (final !== null) expect(final.startsWith(previous)).toBe(true);
}

test('the displayed text of a JSON reply is append-only', () => {
  const { parsePartial, parseFinal } = jsonReplyParser(FIND);
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const written = reply({ feedback: text });
      expectAppendOnly(written, cuts, (part) => parsePartial(part).text, parseFinal(written)?.text ?? null);
    }),
    RUNS,
  );
});

test('the displayed text of a text reply is append-only', () => {
  const { parsePartial, parseFinal } = textReplyParser(FIND);
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const scored = `HustleScore: 3/10\n${text}`;
      expectAppendOnly(scored, cuts, (part) => parsePartial(part).text, parseFinal(scored)?.text ?? null);
    }),
    RUNS,
  );
});

test('the displayed text of a trend is append-only', () => {
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const { parsePartial, parseFinal } = trendReplyParser(DAYS);
      expectAppendOnly(text, cuts, (part) => parsePartial(part).text, parseFinal(text)?.text ?? null);
    }),
    RUNS,
  );
});

/** Threat: a log makes the model repeat a pattern on which a quadratic parser takes seconds. */
test.each([' '.repeat(16_000) + 'x', '[1 '.repeat(5_000) + 'x', `[${'1,'.repeat(8_000)}x`, ' ['.repeat(8_000)])(
  'parses a reply of %.6j… in linear time',
  (feedback) => {
    const { parsePartial, parseFinal } = jsonReplyParser(FIND);
    const startedAt = performance.now();
    const text = reply({ feedback });
    for (let times = 0; times < 20; times += 1) parsePartial(text);
    parseFinal(text);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  },
);
