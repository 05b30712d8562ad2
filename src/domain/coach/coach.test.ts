import { describe, expect, test } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS, dailyLimitText, failureText, feedbackRefusal, isScore } from './coach.ts';
import { QUICK_ENTRIES } from '../log/quick-entries.ts';

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

test('a failed analysis says one thing: its cause, and after three retries that the service may be down', () => {
  const { network, configuration } = ANALYSIS_PROBLEMS;
  const texts = [1, 2, 3, 4, 5].map((failures) => failureText('network', network, failures));
  const note = AI_MESSAGES.unavailableNote;
  expect(texts).toEqual([network, network, network, note, note]);
  // Waiting does not mend a wrong key.
  expect(failureText('configuration', configuration, 4)).toBe(configuration);
});

test('the limit of a day is named', () => {
  expect(dailyLimitText(100)).toBe(
    'You have reached the fair-use limit of 100 analyses a day. Please come back tomorrow.',
  );
  expect(dailyLimitText(1)).toContain('1 analysis a day');
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
