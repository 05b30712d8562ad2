import { expect, test } from 'vitest';
import { scoreBand } from './hustle-score.ts';

test.each([
  [10, 'good'],
  [8, 'good'],
  [7, 'fair'],
  [6, 'fair'],
  [5, 'weak'],
  [4, 'weak'],
  [3, 'poor'],
  [1, 'poor'],
])('a score of %i is in the band %s', (score, band) => {
  expect(scoreBand(score).name).toBe(band);
});
