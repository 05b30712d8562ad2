import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import { day } from '#domain/day/day.ts';
import { fuzzBudget } from '../../../../tests/support/fuzz-budget.ts';
import { eitherReader, LONGEST_REPLY, objectReader, textReader, trendReader } from './parse-response.ts';

/** The page shows 1, 2, 2.1 and a paragraph. */
const FIND = createCitationFinder(
  citableLines('<ol><li><p>Shipped</p></li><li><p>Tests</p><ol><li><p>Unit</p></li></ol></li></ol><p>Called Ann</p>'),
);
const DAYS = new Set([day('2026-11-20')]);
const reply = (fields: object): string =>
  JSON.stringify({ score: 7, feedback: 'You shipped it [1].', cited: ['1'], missingFact: '', ...fields });

describe('a reply by the schema', () => {
  const { whole, soFar } = objectReader(FIND);

  test('is a feedback', () => {
    expect(whole(reply({ missingFact: ' How many users? ' }))).toEqual({
      score: 7,
      text: 'You shipped it [1].',
      cited: [{ ref: '1', line: 1 }],
      missingFact: 'How many users?',
    });
  });

  test.each([
    ['no JSON', 'HustleScore: 9/10\nThat is a fine day.'],
    ['broken off', reply({}).slice(0, -5)],
    ['a list', '[]'],
    ['without a score', reply({ score: undefined })],
    ['with half a score', reply({ score: 7.5 })],
    ['with a score beyond the range', reply({ score: 11 })],
    ['with a score of none', reply({ score: 0 })],
    ['with a score in words', reply({ score: '7' })],
    ['without feedback', reply({ feedback: null })],
    ['too short', reply({ feedback: 'Fine day.' })],
    ['of nothing that can be seen', reply({ feedback: '\u200b'.repeat(20) })],
    ['of signs that take up room at most', reply({ feedback: '\u3164\u{e0101}\u034f'.repeat(9) })],
    ['too long', reply({ feedback: 'x'.repeat(LONGEST_REPLY + 1) })],
  ])('is none when it is %s', (_what, text) => {
    expect(whole(text)).toBeNull();
  });

  test('cites the lines that exist, whether they stand in the list, the text or the missing fact', () => {
    const feedback = 'First [2.1, 9]. Then [0] this [4] and ["called ann"]. Not [see 1].';
    const said = { feedback, cited: ['1', 9, -1, 'x', 2], missingFact: 'When [called Ann…] was [9]?' };
    expect(whole(reply(said))).toEqual({
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

  test('keeps what emoji and Persian are made of', () => {
    const feedback = 'Well done \u2764\ufe0f \u{1f469}\u200d\u{1f4bb} می\u200cخواهم [1].';
    expect(whole(reply({ feedback }))?.text).toBe(feedback);
  });

  test('has a missing fact that is a sentence, or none', () => {
    expect(whole(reply({ missingFact: 'x'.repeat(501) }))?.missingFact).toBeNull();
    expect(whole(reply({ missingFact: 'x'.repeat(500) }))?.missingFact).toHaveLength(500);
  });

  test('has its score when something follows it, for 1 may become 10', () => {
    expect(soFar('{"score": 1').score).toBeNull();
    expect(soFar('{"score": 1,').score).toBe(1);
    expect(soFar('{"score": 70, "feedback": "').score).toBeNull();
  });
});

describe('a reply in text', () => {
  const { whole, soFar } = textReader(FIND);

  test('is a feedback with the score of its line', () => {
    expect(whole('HustleScore: 8/10\n\nYou shipped it [1, 7].\n\nMissingFact: How many users\u200b?')).toEqual({
      score: 8,
      text: 'You shipped it [1].',
      cited: [{ ref: '1', line: 1 }],
      missingFact: 'How many users?',
    });
    expect(whole('HustleScore: 8/10\n\nYou shipped it [1, 7].')?.missingFact).toBeNull();
    expect(whole(`HustleScore: 8/10\n\nYou shipped it.\nMissingFact: ${'x'.repeat(501)}`)?.missingFact).toBeNull();
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
  ])('is none without one clear score, as it is read on a screen: %j', (text) => {
    expect(whole(text)).toBeNull();
    expect(soFar(`${text}\n`)).toEqual({ score: null, text: '' });
  });
});

describe('a reply of an endpoint of which nobody knows what it takes', () => {
  const { whole, soFar } = eitherReader(FIND);
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
    ['an object in a fence without a name', `\n\`\`\`\n${object}\n\`\`\``],
    ['a text', 'HustleScore: 7/10\n\nYou shipped it [1].\n\nMissingFact: How many users?'],
    ['a text with its line as code', '`HustleScore: 7/10`\n\nYou shipped it [1].\n\nMissingFact: How many users?'],
  ])('is %s', (_what, text) => {
    expect(whole(text)).toEqual(expected);
    expect(soFar(`${text}\n`)).toEqual({ score: 7, text: 'You shipped it [1].' });
  });

  test.each([
    `${object}\nHustleScore: 10/10`,
    `Here it is:\n${object}`,
    `\`\`\`json\n${object}\n\`\`\`\nHustleScore: 10/10`,
  ])('is none when it is something of both: %j', (text) => {
    expect(whole(text)).toBeNull();
  });
});

test.each([
  ['x'.repeat(49), null],
  [` ${'x'.repeat(50)}\u200b\n`, 'x'.repeat(50)],
  ['x'.repeat(LONGEST_REPLY + 1), null],
])('a trend has its length', (text, expected) => {
  expect(trendReader(DAYS).whole(text)?.text ?? null).toBe(expected);
});

describe('a line about a day that has no log is invented', () => {
  const said = 'Three days in a row you finished what you had begun.';
  const whole = (text: string) => trendReader(DAYS).whole(`${said}\n\n${text}`)?.text.slice(said.length);

  test.each([
    ['**Wins**\n- 2026-11-20: Sold it\n- 2026-11-19: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold it'],
    ['**Wins**\n* **2026-11-19**: Sold it\n- 2026-11-20: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold more'],
    ['**Wins**:\n- 2026-11-19: Sold it\n- 2026-02-30: Sold more', ''],
    ['**Wins**\n- 2026-1\u200b1-19: Sold it', ''],
    ['On 2026-11-19 there is no log.', '\n\nOn 2026-11-19 there is no log.'],
  ])('%j', (text, expected) => {
    expect(whole(text)).toBe(expected);
  });

  test('and is not shown while it is written', () => {
    const { soFar } = trendReader(DAYS);
    const text = `${said}\n\n**Wins**\n- 2026-11-19: Sold it`;
    for (let length = said.length; length <= text.length; length += 1)
      expect(soFar(text.slice(0, length)).text).toBe(said);
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
])('of an object that is still being written its words are known: %j', (text, expected) => {
  expect(objectReader(FIND).soFar(text).text).toBe(expected);
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

/** However a text is cut, the parts add up, and end as the beginning of the whole. */
function expectOnlyAdded(text: string, cuts: number[], read: (text: string) => string, whole: string | null): void {
  let before = '';
  for (const cut of [...cuts, text.length].filter((at) => at <= text.length).toSorted((a, b) => a - b)) {
    const now = read(text.slice(0, cut));
    expect(now.startsWith(before)).toBe(true);
    before = now;
  }
  if (whole !== null) expect(whole.startsWith(before)).toBe(true);
}

test('what is shown of a feedback is never taken back', () => {
  const { soFar, whole } = objectReader(FIND);
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const written = reply({ feedback: text });
      expectOnlyAdded(written, cuts, (part) => soFar(part).text, whole(written)?.text ?? null);
    }),
    RUNS,
  );
});

test('nor of one in text', () => {
  const { soFar, whole } = textReader(FIND);
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const scored = `HustleScore: 3/10\n${text}`;
      expectOnlyAdded(scored, cuts, (part) => soFar(part).text, whole(scored)?.text ?? null);
    }),
    RUNS,
  );
});

test('nor of a trend', () => {
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const { soFar, whole } = trendReader(DAYS);
      expectOnlyAdded(text, cuts, (part) => soFar(part).text, whole(text)?.text ?? null);
    }),
    RUNS,
  );
});

/** Quadratic, each of these would take seconds: a model that was talked into it can repeat anything. */
test.each([' '.repeat(16_000) + 'x', '[1 '.repeat(5_000) + 'x', `[${'1,'.repeat(8_000)}x`, ' ['.repeat(8_000)])(
  'a reply of %.6j… is read as fast as any other',
  (feedback) => {
    const { soFar, whole } = objectReader(FIND);
    const startedAt = performance.now();
    const text = reply({ feedback });
    for (let times = 0; times < 20; times += 1) soFar(text);
    whole(text);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  },
);
