import { expect, test } from 'vitest';
import { storedFeedback } from './stored-feedback.ts';

const at = '2026-11-20T10:00:00+00:00';
const entry = { ai_feedback: '[2] counts.', hustle_score: 7, ai_analyzed_at: at, updated_at: at };
const analysis = { text: '[2] counts.', cited: [2], cited_refs: null, missing_fact: 'how [2] ended' };

test('feedback of an earlier prompt cites places of lines', () => {
  expect(storedFeedback(entry, analysis)).toMatchObject({
    feedback: '[line 2] counts.',
    cited: [{ ref: 'line 2', line: 2 }],
    missingFact: 'how [line 2] ended',
    upToDate: true,
  });
});

test('feedback of this prompt cites what the page shows', () => {
  expect(storedFeedback(entry, { ...analysis, cited: [4], cited_refs: ['2'] })).toMatchObject({
    feedback: '[2] counts.',
    cited: [{ ref: '2', line: 4 }],
    missingFact: 'how [2] ended',
  });
});

test('feedback of another source has no citations that can be shown', () => {
  expect(storedFeedback(entry, { ...analysis, text: 'Older' })).toMatchObject({ feedback: '[2] counts.', cited: [] });
  expect(storedFeedback(entry, null)).toMatchObject({ feedback: '[2] counts.', missingFact: null });
  expect(storedFeedback({ ...entry, ai_feedback: null }, analysis)).toBeNull();
});
