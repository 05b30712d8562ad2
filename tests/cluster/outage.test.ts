import { expect, test } from 'vitest';
import { firstAnswerSince, longestOutage } from './outage.ts';

const answer = (sentAt: number, answeredAt: number) => ({ sentAt, answeredAt });

test('the longest outage is the longest time between two answers', () => {
  const answers = [answer(0, 10), answer(110, 120), answer(150, 900), answer(140, 160), answer(910, 920)];
  expect(longestOutage(answers, 100)).toEqual({ from: 160, to: 900 });
});

test('an outage before the first answer begins at the start of the observation', () => {
  expect(longestOutage([answer(100, 500), answer(510, 520)], 100)).toEqual({ from: 100, to: 500 });
});

test('an answer to an earlier request does not end an outage', () => {
  expect(longestOutage([answer(90, 110), answer(300, 400)], 100)).toEqual({ from: 100, to: 400 });
});

test('longestOutage returns null if no later request was answered', () => {
  expect(longestOutage([answer(50, 60)], 100)).toBeNull();
});

test('firstAnswerSince returns the earliest answer at or after a time, whatever the order of the answers', () => {
  const answers = [answer(0, 300), answer(0, 100), answer(0, 200)];
  expect(firstAnswerSince(answers, 150)).toBe(200);
  expect(firstAnswerSince(answers, 200)).toBe(200);
  expect(firstAnswerSince(answers, 301)).toBeNull();
});
