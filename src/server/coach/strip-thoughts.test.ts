/** Tests through `feedbackReplyParser` that markers around a reply, and the thoughts in them, are no part of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REPLY_MANNERS } from '../../../simulators/ai-model/manners.ts';
import { CUTS, DRESSED, FIND, MANNERS, MARKERS, prefixes, RUNS, TEXT } from '../../../tests/support/coach-replies.ts';
import { feedbackReplyParser, type PartialReply } from './parse-response.ts';

describe.each(Object.entries(REPLY_MANNERS))('feedbackReplyParser, in the manner of %s', (_manner, dress) => {
  const parser = feedbackReplyParser(FIND);

  test.each(DRESSED)('reads %s', (_form, write) => {
    const feedback = 'You shipped it [1].\nThe tests of <b> & "units" came [2.1].';
    const text = dress(write(7, feedback));
    expect(parser.parseFinal(text)).toEqual({
      score: 7,
      text: feedback,
      cited: [
        { ref: '1', line: 1 },
        { ref: '2.1', line: 3 },
      ],
      missingFact: 'How many users?',
    });
    const isWrong = ({ score, text: shown }: PartialReply): boolean =>
      !feedback.startsWith(shown) || (score ?? 7) !== 7;
    expect(prefixes(text).find((part) => isWrong(parser.parsePartial(part)))).toBeUndefined();
  });
});

test('a reply with random markers in any manner is append-only', () => {
  const forms = fc.constantFrom(...DRESSED.map(([, write]) => write));
  const marker = fc.constantFrom(...MARKERS);
  const text = fc.array(fc.oneof(TEXT, marker), { maxLength: 6 }).map((parts) => parts.join(''));
  const { parsePartial, parseFinal } = feedbackReplyParser(FIND);
  fc.assert(
    fc.property(MANNERS, forms, text, fc.integer({ min: 1, max: 10 }), CUTS, (dress, write, feedback, score, cuts) => {
      const written = dress(write(score, feedback));
      const final = parseFinal(written);
      const partials = [...cuts.toSorted((a, b) => a - b), written.length].map((cut) =>
        parsePartial(written.slice(0, cut)),
      );
      // Invalid replies end in an error whatever was shown.
      if (final === null) return;
      const texts = [...partials.map((partial) => partial.text), final.text];
      expect(texts.every((shown, index) => shown.startsWith(texts[index - 1] ?? ''))).toBe(true);
      expect(new Set([final.score, ...partials.map((partial) => partial.score ?? final.score)])).toEqual(
        new Set([score]),
      );
    }),
    RUNS,
  );
});
