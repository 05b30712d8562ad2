/**
 * The bands of the HustleScore, the coach's score of a log from 1 to 10 (docs/specification/coach.md 5). Each has a word,
 * because colour alone is not accessible.
 */
export type ScoreBand = { name: 'good' | 'fair' | 'weak' | 'poor'; word: string };

export function scoreBand(score: number): ScoreBand {
  if (score >= 8) return { name: 'good', word: 'Strong' };
  if (score >= 6) return { name: 'fair', word: 'Solid' };
  if (score >= 4) return { name: 'weak', word: 'Thin' };
  return { name: 'poor', word: 'Poor' };
}
