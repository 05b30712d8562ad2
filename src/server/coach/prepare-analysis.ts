/** Prepares an analysis: loads the logs, checks that they can be analysed and builds the prompt. */
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import {
  feedbackRefusal,
  MIN_CONTEXT_CHARS,
  MIN_TREND_ENTRY_CHARS,
  type CoachRefusal,
  type FeedbackResult,
  type TrendRequest,
  type TrendResult,
} from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { outlineText } from '#domain/log/log-outline.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import {
  PROMPT_LIMITS,
  FEEDBACK_SCHEMA,
  feedbackPrompt,
  MAX_OUTPUT_TOKENS,
  linesInPrompt,
  trendPrompt,
} from './prompts.ts';
import { createQuoteFinder, feedbackReplyParser, trendReplyParser } from './parse-response.ts';
import type { Job, RunDeps } from './run-analysis.ts';

/** Feedback on one day. */
export async function prepareFeedback(
  { store, model }: RunDeps,
  caller: SignedInCaller,
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

/** The review of a period. */
export async function prepareTrend(
  { store }: RunDeps,
  caller: SignedInCaller,
  { period, from, to }: TrendRequest,
): Promise<Job<TrendResult> | CoachRefusal> {
  const { logs, fingerprint } = await store.readPeriod(caller, { from, to });
  if (logs.length === 0) return 'no_entry';
  if (!logs.some(({ text }) => text.trim().length >= MIN_TREND_ENTRY_CHARS)) return 'too_short';

  const charsPerLog = Math.floor(PROMPT_LIMITS.trendRead / logs.length);
  const outlined = logs.map(({ date, content, score }) => {
    const { html, cut } = cutHtml(content, charsPerLog);
    return { date, text: outlineText(html), cut, score };
  });
  const prompt = trendPrompt({ period, from, to, logs: outlined });
  // `toResult` captures only these values of the logs, so that they can be garbage-collected while the model answers.
  const entryCount = logs.length;
  const scores = logs.flatMap(({ date, score }) => (score === null ? [] : [{ date, score }]));
  return {
    userId: caller.userId,
    identity: caller.identity,
    kind: 'trend',
    key: `${period} ${to}`,
    target: {
      from,
      to,
      logs: logs.flatMap(({ id, text }) => (text === '' ? [] : [id])),
      review: { period, entryCount, fingerprint },
    },
    prompt,
    schema: null,
    maxOutputTokens: MAX_OUTPUT_TOKENS.trend,
    parser: trendReplyParser(new Set(logs.map(({ date }) => date))),
    toResult: ({ text }, { at, reused }) => ({
      period,
      analysis: text,
      entryCount,
      dateRange: { from, to },
      generatedAt: at.toISOString(),
      scores,
      reused,
    }),
  };
}

/** Truncates HTML to `length` characters and removes a tag that the cut splits: half a tag would be read as text. */
export function cutHtml(html: string, length: number): { html: string; cut: boolean } {
  if (html.length <= length) return { html, cut: false };
  return {
    html: html
      .slice(0, length)
      .toWellFormed()
      .replace(/<[^<>]*$/, ''),
    cut: true,
  };
}
