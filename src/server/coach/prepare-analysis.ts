/** Prepares an analysis: loads the logs, checks that they can be analysed and builds the prompt. */
import { citableLines, createCitationFinder } from '#domain/coach/citations.ts';
import {
  feedbackRefusal,
  MIN_CONTEXT_CHARS,
  MIN_REVIEW_ENTRY_CHARS,
  type CoachRefusal,
  type FeedbackResult,
  type ReviewRequest,
  type ReviewResult,
} from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { splitReview } from '#domain/coach/win-bullets.ts';
import type { DayRange } from '#domain/plan/review-period.ts';
import { timeOffBetween } from '#domain/day/time-off.ts';
import { outlineText } from '#domain/log/log-outline.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import {
  PROMPT_LIMITS,
  FEEDBACK_SCHEMA,
  feedbackPrompt,
  MAX_OUTPUT_TOKENS,
  linesInPrompt,
  longReviewPrompt,
  monthPrompt,
  reviewPrompt,
  type Prompt,
} from './prompts.ts';
import { createQuoteFinder, feedbackReplyParser } from './parse-response.ts';
import { reviewReplyParser } from './parse-review.ts';
import type { Job, RunDeps } from './run-analysis.ts';

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

/** The review of the last 7 or 30 days, from their logs. */
export async function prepareReview(
  deps: RunDeps,
  caller: SignedInCaller,
  { period, from, to }: ReviewRequest,
): Promise<Job<ReviewResult> | CoachRefusal> {
  const read = await readLogs(deps, caller, { from, to });
  if (typeof read === 'string') return read;
  const { ids, outlined, timeOff, fingerprint, days, scores } = read;
  const entryCount = days.length;
  return {
    ...reviewJob(caller, `${period} ${to}`, reviewPrompt({ period, from, to, timeOff, logs: outlined }), days),
    target: { from, to, logs: ids, review: { period, entryCount, fingerprint } },
    // Captures only these values, so that the logs can be garbage-collected while the model answers.
    toResult: toReviewResult({ period, entryCount, dateRange: { from, to }, scores }),
  };
}

/** What a longer review needs of a month besides its summary. */
export type MonthOfReview = DayRange & { ids: string[]; days: Day[]; scores: ReviewResult['scores'] };

/**
 * The summary of one month, which only a longer review reads. Null if the month has no log, or none that is long
 * enough.
 */
export async function prepareMonth(
  deps: RunDeps,
  caller: SignedInCaller,
  { from, to }: DayRange,
): Promise<{ month: MonthOfReview; job: Job<string> } | null> {
  const read = await readLogs(deps, caller, { from, to });
  if (typeof read === 'string') return null;
  const { ids, outlined, timeOff, days, scores } = read;
  return {
    month: { from, to, ids, days, scores },
    job: {
      ...reviewJob(caller, `month ${from.slice(0, 7)}`, monthPrompt({ from, to, timeOff, logs: outlined }), days),
      maxOutputTokens: MAX_OUTPUT_TOKENS.month,
      target: { from, to, logs: ids, review: null },
      toResult: ({ text }) => text,
    },
  };
}

/** The review of a quarter or a year, from the summaries of its months. */
export function prepareLongReview(
  caller: SignedInCaller,
  { period, from, to }: ReviewRequest,
  months: readonly (MonthOfReview & { summary: string })[],
  fingerprint: string,
): Job<ReviewResult> {
  const scores = months.flatMap((month) => month.scores);
  const entryCount = months.reduce((sum, { days }) => sum + days.length, 0);
  // The model sees only the summaries, so a win of a day that they do not name is invented.
  const days = months.flatMap(({ summary }) => splitReview(summary).wins.map(({ date }) => date));
  const prompt = longReviewPrompt({
    period,
    from,
    to,
    months: months.map(({ from: first, days: logged, scores: scored, summary }) => ({
      month: first.slice(0, 7),
      logs: logged.length,
      meanScore: meanScore(scored),
      summary,
    })),
  });
  return {
    ...reviewJob(caller, `${period} ${from}`, prompt, days),
    target: { from, to, logs: months.flatMap(({ ids }) => ids), review: { period, entryCount, fingerprint } },
    toResult: toReviewResult({ period, entryCount, dateRange: { from, to }, scores }),
  };
}

const meanScore = (scores: readonly { score: number }[]): number | null =>
  scores.length === 0
    ? null
    : Math.round((scores.reduce((sum, { score }) => sum + score, 0) / scores.length) * 10) / 10;

const reviewJob = ({ userId, identity }: SignedInCaller, key: string, prompt: Prompt, days: readonly Day[]) =>
  ({
    ...{ userId, identity, key, prompt },
    kind: 'trend',
    schema: null,
    maxOutputTokens: MAX_OUTPUT_TOKENS.review as number,
    parser: reviewReplyParser(new Set(days)),
  }) as const;

const toReviewResult =
  (facts: Pick<ReviewResult, 'period' | 'entryCount' | 'dateRange' | 'scores'>): Job<ReviewResult>['toResult'] =>
  ({ text }, { at, reused }) => ({ ...facts, analysis: text, generatedAt: at.toISOString(), reused });

/** The logs of a range as the prompt shows them, or the reason why they cannot be analysed. */
async function readLogs({ store }: RunDeps, caller: SignedInCaller, range: DayRange) {
  const { logs, timeOff, fingerprint } = await store.readPeriod(caller, range);
  if (logs.length === 0) return 'no_entry';
  if (!logs.some(({ text }) => text.trim().length >= MIN_REVIEW_ENTRY_CHARS)) return 'too_short';
  const charsPerLog = Math.floor(PROMPT_LIMITS.reviewRead / logs.length);
  const outlined = logs.map(({ date, content, score }) => {
    const { html, cut } = cutHtml(content, charsPerLog);
    return { date, text: outlineText(html), cut, score };
  });
  return {
    fingerprint,
    outlined,
    timeOff: timeOffBetween(timeOff, range.from, range.to),
    ids: logs.flatMap(({ id, text }) => (text === '' ? [] : [id])),
    days: logs.map(({ date }) => date),
    scores: logs.flatMap(({ date, score }) => (score === null ? [] : [{ date, score }])),
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
