import { expect, test } from 'vitest';
import { toStoredFeedback } from './use-feedback.ts';

const at = '2026-11-20T10:00:00+00:00';
const entry = { ai_feedback: '[2] counts.', hustle_score: 7, ai_analyzed_at: at, updated_at: at };
const analysis = { text: '[2] counts.', cited: [2], cited_refs: null, missing_fact: 'how [2] ended', created_at: at };

test('feedback without stored references cites line numbers', () => {
  expect(toStoredFeedback(entry, analysis)).toMatchObject({
    feedback: '[line 2] counts.',
    cited: [{ ref: 'line 2', line: 2 }],
    missingFact: 'how [line 2] ended',
    upToDate: true,
  });
});

test('feedback with stored references cites the labels that the page shows', () => {
  expect(toStoredFeedback(entry, { ...analysis, cited: [4], cited_refs: ['2'] })).toMatchObject({
    feedback: '[2] counts.',
    cited: [{ ref: '2', line: 4 }],
    missingFact: 'how [2] ended',
  });
});

test('feedback that differs from the stored analysis has no citations', () => {
  expect(toStoredFeedback(entry, { ...analysis, text: 'Older' })).toMatchObject({ feedback: '[2] counts.', cited: [] });
  expect(toStoredFeedback(entry, null)).toMatchObject({ feedback: '[2] counts.', missingFact: null });
  expect(toStoredFeedback({ ...entry, ai_feedback: null }, analysis)).toBeNull();
});

test('feedback that came back with a deleted log keeps the time of its analysis', () => {
  const returned = { ...entry, ai_analyzed_at: '2026-11-25T10:00:00+00:00' };
  expect(toStoredFeedback(returned, analysis)).toMatchObject({ analyzedAt: at, upToDate: true });
});
