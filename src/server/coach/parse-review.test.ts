import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitReview } from '#domain/coach/win-bullets.ts';
import { day } from '#domain/day/day.ts';
import { REPLY_MANNERS } from '../../../simulators/ai-model/manners.ts';
import { CUTS, expectAppendOnly, MARKERS, prefixes, RUNS, TEXT } from '../../../tests/support/coach-replies.ts';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { MAX_REPLY_CHARS } from './parse-response.ts';
import { reviewReplyParser } from './parse-review.ts';

const DAYS = new Set([day('2026-11-03'), day('2026-11-20')]);

test.each([
  ['x'.repeat(49), null],
  [` ${'x'.repeat(50)}\u200b\n`, 'x'.repeat(50)],
  ['x'.repeat(MAX_REPLY_CHARS + 1), null],
])('reviewReplyParser rejects a text that is too short or too long', (text, expected) => {
  expect(reviewReplyParser(DAYS).parseFinal(text)?.text ?? null).toBe(expected);
});

describe('reviewReplyParser drops a dated bullet of a day without a log', () => {
  const prose = 'Three days in a row you finished what you had begun.';
  const parseFinal = (text: string) =>
    reviewReplyParser(DAYS).parseFinal(`${prose}\n\n${text}`)?.text.slice(prose.length);

  test.each([
    ['**Wins**\n- 2026-11-20: Sold it\n- 2026-11-19: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold it'],
    ['**Wins**\n* **2026-11-19**: Sold it\n- 2026-11-20: Sold more', '\n\n**Wins**\n- 2026-11-20: Sold more'],
    ['**Wins**:\n- 2026-11-19: Sold it\n- 2026-02-30: Sold more', ''],
    ['**Wins**\n- 2026-1\u200b1-19: Sold it', ''],
    ['**Wins**\n- 2026-11-19: Sold\n  more\n- 2026-11-20: Sold it', '\n\n**Wins**\n- 2026-11-20: Sold it'],
    ['**Erfolge**\n- 2026/11/20: Sold it\n- 2026/11/19: Sold more', '\n\n**Erfolge**\n- 2026/11/20: Sold it'],
    ['On 2026-11-19 there is no log.', '\n\nOn 2026-11-19 there is no log.'],
  ])('%j', (text, expected) => {
    expect(parseFinal(text)).toBe(expected);
  });

  test.each(['**Wins**\n- 2026-11-19: Sold it', '## WINS\n1. 2026‑11‑19 Sold it', 'wins:\n2026-11-19 – Sold it'])(
    'while the bullet is incomplete: %j',
    (list) => {
      const { parsePartial } = reviewReplyParser(DAYS);
      const text = `${prose}\n\n${list}`;
      for (let length = prose.length; length <= text.length; length += 1)
        expect(parsePartial(text.slice(0, length)).text).toBe(prose);
    },
  );

  test.each(Object.entries(REPLY_MANNERS))('in the manner of %s', (_manner, dress) => {
    const analysis = `${prose}\n\n**Wins**\n- 2026-11-20: Sold it`;
    const { parseFinal: parse, parsePartial } = reviewReplyParser(DAYS);
    const text = dress(analysis);
    expect(parse(text)?.text).toBe(analysis);
    if (text.startsWith('Okay')) return;
    expect(prefixes(text).find((part) => !analysis.startsWith(parsePartial(part).text))).toBeUndefined();
  });
});

describe('reviewReplyParser reads an object below prose', () => {
  const prose = 'You finished what you had begun, and each log says why. '.repeat(4).trim();
  const parse = (below: string) => reviewReplyParser(DAYS).parseFinal(`${prose}\n\n${below}`)?.text ?? null;

  test.each([
    [
      '```json\n{"retries": 3, "delay": 0.5}\n```\nended the timeouts.',
      '{"retries": 3, "delay": 0.5}\nended the timeouts.',
    ],
    ['{"retries" is the name that you fixed.', '{"retries" is the name that you fixed.'],
    ['{\n  retry(3)\n}', '{\n  retry(3)\n}'],
  ])('as code that the review quotes: %j', (below, expected) => {
    expect(parse(below)).toBe(`${prose}\n\n${expected}`);
  });

  test('as wins, or as the review, but not if it is cut', () => {
    expect(parse('{"wins": ["2026-11-20: Sold it"]}')).toBe(`${prose}\n\n**Wins**\n- 2026-11-20: Sold it`);
    expect(parse('{"review": "Go on."}')).toBe(`${prose}\n\nGo on.`);
    expect(parse('{"wins": ["2026-11-20: Sold')).toBe(null);
  });

  test('not as code if the prose is only a sentence', () => {
    const { parseFinal } = reviewReplyParser(DAYS);
    expect(parseFinal('Here is the review of these days in the form that you have asked for:\n{"half" of')).toBe(null);
  });
});

test('the displayed text of a review is append-only', () => {
  fc.assert(
    fc.property(TEXT, CUTS, (text, cuts) => {
      const { parsePartial, parseFinal } = reviewReplyParser(DAYS);
      expectAppendOnly(text, cuts, (part) => parsePartial(part).text, parseFinal(text)?.text ?? null);
    }),
    RUNS,
  );
});

test('a review with random markers is append-only', () => {
  const text = fc.array(fc.oneof(TEXT, fc.constantFrom(...MARKERS)), { maxLength: 8 }).map((parts) => parts.join(''));
  const { parsePartial, parseFinal } = reviewReplyParser(DAYS);
  fc.assert(
    fc.property(text, CUTS, (written, cuts) => {
      // A closing marker without an opening one takes back what was shown: the run then fails.
      if (/<\/think>/.test(written)) return;
      expectAppendOnly(written, cuts, (part) => parsePartial(part).text, parseFinal(written)?.text ?? null);
    }),
    RUNS,
  );
});

test('takes linear time on adversarial wins', () => {
  // Quadratic time would exceed the test's timeout.
  const { parseFinal, parsePartial } = reviewReplyParser(DAYS);
  for (const line of [
    (run: string) => `- a${run}b`,
    (run: string) => `| 2026-11-20 a${run}b`,
    (run: string) => `- a${run}(20 November)`,
  ])
    for (const part of [' ', ' |', ')', '*', '_`', '(', ' - ', ' on '])
      for (const parse of [parseFinal, parsePartial]) parse(`**Wins**\n${line(part.repeat(50_000))}\nEnd\n`);
});

const PROSE = 'Three days in a row you finished what you had begun.';
const parse = (text: string): string | null => reviewReplyParser(DAYS).parseFinal(text)?.text ?? null;

const DATES = [
  'November 20',
  'November 20, 2026',
  'Nov 20',
  'Nov. 20th',
  '20 November',
  '20th of November 2026',
  'Friday, November 20',
  'On November 20',
  '20.11.2026',
  '11/20/2026',
  '20/11/2026',
  '2026/11/20',
  '20. November',
  '20 novembre 2026',
  '20 de noviembre de 2026',
  '2026年11月20日',
];
const LINES: readonly ((date: string, win: string) => string)[] = [
  (date, win) => `- ${date}: ${win}`,
  (date, win) => `${date}: ${win}`,
  (date, win) => `✅ ${date} – ${win}`,
  (date, win) => `- 🏆 **${date}** ${win}`,
  (date, win) => `* **${date}:** ${win}`,
  (date, win) => `1. **${date}** – ${win}`,
  (date, win) => `- ${date}\n  - ${win}`,
  (date, win) => `- ${win} (${date})`,
  (date, win) => `- **${win}** — ${date}`,
  (date, win) => `- ${win}, ${date}`,
  (date, win) => `| Date | Win |\n|---|---|\n| ${date} | ${win} |`,
  (date, win) => `| Win | Date |\n|---|---|\n| ${win} | ${date} |`,
];

describe('a win', () => {
  test.each(DATES.flatMap((date) => LINES.map((write) => write(date, 'Sold it: 3 of 4, for $5'))))(
    'in the form %j',
    (line) => {
      const text = parse(`${PROSE}\n\n**Wins**\n${line}`)!;
      expect(splitReview(text)).toEqual({
        text: PROSE,
        wins: [{ date: '2026-11-20', text: 'Sold it: 3 of 4, for $5' }],
      });
    },
  );

  test.each([
    ['- Sold it (November 19)\n- Sold more (Nov 3)', '\n\n**Wins**\n- 2026-11-03: Sold more'],
    ['- November 19: Sold\n  more', ''],
    ['- Nov 3: Sold\nIt all began on November 20', '\n\n**Wins**\n- 2026-11-03: Sold\nIt all began on November 20'],
    ['- Sold 20 of 30\n- Sold on, and on', '\n\n**Wins**\n- Sold 20 of 30\n- Sold on, and on'],
  ])('of a day without a log is dropped, and no number is a date: %j', (wins, expected) =>
    expect(parse(`${PROSE}\n\n**Wins**\n${wins}`)).toBe(PROSE + expected),
  );

  test('is a date below the heading only', () => {
    const text = `${PROSE}\n- Call Ann (November 19)\n\n**Wins**\n- 2026-11-20: Sold it`;
    expect(parse(text)).toBe(text);
  });
});

describe('an object', () => {
  const WINS = '\n\n**Wins**\n- 2026-11-03: Called\n- 2026-11-20: Sold it';
  const both = ['2026-11-03: Called', '2026-11-20: Sold it'];
  test.each([
    ['of texts', { review: PROSE, wins: both }, PROSE + WINS],
    ['of a text alone', { analysis: PROSE + WINS }, PROSE + WINS],
    [
      'of objects',
      {
        summary: PROSE,
        wins: [
          { date: 'Nov 3', win: 'Called' },
          { win: 'Sold it', date: '2026-11-20' },
        ],
      },
      PROSE + WINS,
    ],
    ['of dates', { review: PROSE, key_wins: { '2026-11-03': 'Called', 'November 20': 'Sold it' } }, PROSE + WINS],
    [
      'of paragraphs',
      { review: { pattern: PROSE, focus: 'Less.', obstacles: ['Mail', 'Meetings'] }, wins: both },
      `**Pattern**: ${PROSE}\n\n**Focus**: Less.\n\n**Obstacles**:\n- Mail\n- Meetings${WINS}`,
    ],
  ])('%s becomes a review, also in a fence and behind words', (_what, object, expected) => {
    expect(parse(JSON.stringify(object))).toBe(expected);
    expect(parse(`\`\`\`json\n${JSON.stringify(object, null, 2)}\n\`\`\``)).toBe(expected);
    expect(parse(`Here it is:\n${JSON.stringify(object)}`)).toBe(`Here it is:\n\n${expected}`);
  });

  test('that cannot be read is refused', () => {
    expect(parse(`{"review": "${PROSE}", 7}`)).toBeNull();
  });
});

test('the displayed text of a review in any form is append-only', () => {
  const wins = fc.array(
    fc.tuple(fc.constantFrom(...LINES), fc.constantFrom(...DATES, 'November 19', '', '2026-11-03')),
    { maxLength: 4 },
  );
  const review = fc.constantFrom(
    (list: string) => `${PROSE}\n\n**Wins**\n${list}\n`,
    (list: string) => JSON.stringify({ review: PROSE, wins: list.split('\n') }),
    (list: string) => `${PROSE.repeat(4)}\n\`\`\`json\n{"retries": 3}\n\`\`\`\n**Wins**\n${list}\n`,
    (list: string) => `${PROSE.repeat(4)}\n{"retries" of\n\n**Wins**\n${list}\n`,
  );
  fc.assert(
    fc.property(wins, review, fc.string({ maxLength: 20 }), (lines, write, more) => {
      const { parsePartial, parseFinal } = reviewReplyParser(DAYS);
      const text = write(lines.map(([line, date]) => line(date, `Sold ${more}`)).join('\n')) + more;
      let shown = '';
      for (let length = 0; length <= text.length; length += 1) {
        const next = parsePartial(text.slice(0, length)).text;
        expect(next.startsWith(shown)).toBe(true);
        shown = next;
      }
      expect((parseFinal(text)?.text ?? shown).startsWith(shown)).toBe(true);
    }),
    { numRuns: fuzzBudget(300) },
  );
});

/** Threat: a log makes the model write thousands of dated lines, and each chunk of the stream reads them again. */
test('reads thousands of wins in linear time', async () => {
  const { parsePartial } = reviewReplyParser(DAYS);
  const text = `${PROSE}\n**Wins**\n${'- 1, 2, 3, 4: a on b\n'.repeat(700)}`;
  const parseGrowing = () => {
    for (let length = 0; length <= text.length; length += 20) parsePartial(text.slice(0, length));
  };
  expect(await measureCpuMs(parseGrowing)).toBeLessThan(5_000);
});
