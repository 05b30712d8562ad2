import { describe, expect, test } from 'vitest';
import { AI_MESSAGES, ANALYSIS_PROBLEMS, dailyLimitText, failureMessage, feedbackRefusal, isScore } from './coach.ts';
import { QUICK_ENTRIES } from '../log/quick-entries.ts';

describe('feedbackRefusal', () => {
  test.each(QUICK_ENTRIES.map(({ text }) => text))('refuses the quick entry %s', (text) => {
    expect(feedbackRefusal(` ${text}\n`)).toBe('canned');
    expect(feedbackRefusal(`${text}, and then I fixed the build`)).toBeNull();
  });

  test.each([
    ['', 'too_short'],
    ['nine char', 'too_short'],
    ['   nine char   ', 'too_short'],
    ['ten chars.', null],
  ])('for %j is %s', (text, refusal) => {
    expect(feedbackRefusal(text)).toBe(refusal);
  });
});

test('a failure shows its cause, and after three retries that the service may be unavailable', () => {
  const { network, configuration } = ANALYSIS_PROBLEMS;
  const texts = [1, 2, 3, 4, 5].map((failures) => failureMessage('network', network, failures));
  const note = AI_MESSAGES.unavailableNote;
  expect(texts).toEqual([network, network, network, note, note]);
  // Waiting does not fix a configuration error.
  expect(failureMessage('configuration', configuration, 4)).toBe(configuration);
});

test('the daily limit message names the limit', () => {
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
])('isScore of %j is %s', (value, expected) => {
  expect(isScore(value)).toBe(expected);
});
