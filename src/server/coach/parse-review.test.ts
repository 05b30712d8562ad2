import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { REPLY_MANNERS } from '../../../simulators/ai-model/manners.ts';
import { CUTS, expectAppendOnly, MARKERS, prefixes, RUNS, TEXT } from '../../../tests/support/coach-replies.ts';
import { MAX_REPLY_CHARS } from './parse-response.ts';
import { reviewReplyParser } from './parse-review.ts';

const DAYS = new Set([day('2026-11-20')]);

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
