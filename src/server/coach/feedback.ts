/** Prepares feedback on one day: loads the log, checks that it can be analysed and builds the prompt. */
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import { feedbackRefusal, MIN_CONTEXT_CHARS, type CoachRefusal, type FeedbackResult } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import type { SignedInUser } from './coach-store.ts';
import { cutHtml } from './reply/cut-html.ts';
import { PROMPT_LIMITS, FEEDBACK_SCHEMA, feedbackPrompt, MAX_OUTPUT_TOKENS, linesInPrompt } from './prompts.ts';
import { createQuoteFinder, feedbackReplyParser } from './reply/parse-response.ts';
import type { Job, RunDeps } from './run-analysis.ts';

export async function prepareFeedback(
  { store, model }: RunDeps,
  caller: SignedInUser,
  date: Day,
): Promise<Job<FeedbackResult> | CoachRefusal> {
  const { entry, earlier, readAt } = await store.readDay(caller, date);
  if (!entry) return 'no_entry';
  const refusal = feedbackRefusal(entry.text);
  if (refusal) return refusal;

  const { html, cut } = cutHtml(entry.content, PROMPT_LIMITS.newestRead);
  const lines = citableLines(html);
  const { replies } = model.describe();
  const context = earlier.filter(({ text }) => text.trim().length >= MIN_CONTEXT_CHARS);
  const prompt = feedbackPrompt({ date, lines, cut, earlier: context }, replies);
  return {
    userId: caller.userId,
    identity: caller.identity,
    kind: 'feedback',
    key: date,
    target: { id: entry.id, date, readAt, updatedAt: entry.updatedAt },
    prompt,
    schema: replies === 'text' ? null : FEEDBACK_SCHEMA,
    maxOutputTokens: MAX_OUTPUT_TOKENS.feedback,
    parser: feedbackReplyParser(
      createCitationFinder(linesInPrompt(lines)),
      createQuoteFinder([...lines, ...context].map(({ text }) => text)),
    ),
    toResult: ({ score, text, cited, missingFact }, { written, reused }) => ({
      score: score!,
      feedback: text,
      cited,
      missingFact,
      analyzedAt: new Date(written!.analyzedAt).toISOString(),
      upToDate: written!.upToDate,
      reused,
    }),
  };
}
