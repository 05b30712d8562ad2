import { expect, test } from 'vitest';
import { addDays, day } from '../day/day.ts';
import { trendSentence } from './hustle-score.ts';

const scoresFrom = (first: string, scores: readonly number[], step = 1) =>
  scores.map((score, index) => ({ date: addDays(day(first), index * step), score }));

const TODAY = day('2026-11-28');

test.each([
  ['no scores', []],
  ['seven scores', [3, 3, 3, 9, 9, 9, 9]],
])('says nothing about %s', (_what, scores) => {
  expect(trendSentence(scoresFrom('2026-11-01', scores), TODAY)).toBeNull();
});

test('says nothing about scores of a few days whose rise is within their scatter', () => {
  expect(trendSentence(scoresFrom('2026-11-01', [2, 9, 4, 8, 3, 9, 2, 8, 9]), TODAY)).toBeNull();
});

test('names a rise from the first third of the scores to the last', () => {
  const scores = [5, 4, 5, 6, 5, 6, 6, 6, 7, 7, 6, 8];
  expect(trendSentence(scoresFrom('2026-11-02', scores), TODAY)).toBe(
    'Your scores rose from about 5 to about 7 since Nov 2.',
  );
});

test('names a fall', () => {
  const scores = [8, 8, 7, 8, 7, 6, 6, 5, 4, 5, 4, 4];
  expect(trendSentence(scoresFrom('2026-11-02', scores), TODAY)).toBe(
    'Your scores fell from about 8 to about 4 since Nov 2.',
  );
});

test('says that scores stayed where both ends are alike', () => {
  const scores = [6, 6, 7, 6, 5, 6, 6, 7, 6];
  expect(trendSentence(scoresFrom('2026-11-02', scores), TODAY)).toBe('Your scores stayed at about 6 since Nov 2.');
});

test('names the month, for scores of more than two months', () => {
  const scores = [5, 4, 5, 6, 5, 6, 6, 6, 7, 7, 6, 8];
  expect(trendSentence(scoresFrom('2026-09-03', scores, 7), TODAY)).toBe(
    'Your scores rose from about 5 to about 7 since September.',
  );
});

test('names the year of a month in another year', () => {
  const scores = [5, 4, 5, 6, 5, 6, 6, 6, 7, 7, 6, 8];
  expect(trendSentence(scoresFrom('2025-12-03', scores, 28), TODAY)).toBe(
    'Your scores rose from about 5 to about 7 since December 2025.',
  );
});

test('never names a rise or a fall between equal numbers, nor one against the order of the scores', () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let run = 0; run < 2_000; run += 1) {
    const count = 8 + Math.floor(random() * 40);
    const points = scoresFrom(
      '2026-01-01',
      Array.from({ length: count }, () => 1 + Math.floor(random() * 10)),
    );
    const sentence = trendSentence(points, TODAY) ?? '';
    const [, verb, from, to] = /(rose|fell) from about (\d+) to about (\d+)/.exec(sentence) ?? [];
    if (verb !== undefined) expect(verb === 'rose' ? Number(to) > Number(from) : Number(to) < Number(from)).toBe(true);
    const reversed = trendSentence(
      points.map(({ date }, index) => ({ date, score: points.at(-1 - index)!.score })),
      TODAY,
    );
    if (verb !== undefined) expect(reversed).toContain(verb === 'rose' ? 'fell' : 'rose');
  }
});
