import { describe, expect, test } from 'vitest';
import { feedbackRefusal, isScore } from './coach.ts';
import { QUICK_ENTRIES } from './quick-entries.ts';

describe('what can be given feedback on', () => {
  test.each(QUICK_ENTRIES.map(({ text }) => text))('not a quick entry: %s', (text) => {
    expect(feedbackRefusal(` ${text}\n`)).toBe('canned');
    expect(feedbackRefusal(`${text}, and then I fixed the build`)).toBeNull();
  });

  test.each([
    ['', 'too_short'],
    ['nine char', 'too_short'],
    ['   nine char   ', 'too_short'],
    ['ten chars.', null],
  ])('%j: %s', (text, refusal) => {
    expect(feedbackRefusal(text)).toBe(refusal);
  });
});

test.each([
  [1, true],
  [10, true],
  [0, false],
  [11, false],
  [7.5, false],
  ['7', false],
  [null, false],
])('%j is a score: %s', (value, expected) => {
  expect(isScore(value)).toBe(expected);
});
