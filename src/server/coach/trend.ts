/** Prepares the review of a period: loads its logs, checks that they can be analysed and builds the prompt. */
import { MIN_TREND_ENTRY_CHARS, type CoachRefusal, type TrendRequest, type TrendResult } from '#domain/coach/coach.ts';
import { outlineText } from '#domain/log/log-outline.ts';
import type { SignedInUser } from './coach-store.ts';
import { cutHtml } from './reply/cut-html.ts';
import { PROMPT_LIMITS, MAX_OUTPUT_TOKENS, trendPrompt } from './prompts.ts';
import { trendReplyParser } from './reply/parse-response.ts';
import type { Job, RunDeps } from './run-analysis.ts';

export async function prepareTrend(
  { store }: RunDeps,
  caller: SignedInUser,
  { period, from, to }: TrendRequest,
): Promise<Job<TrendResult> | CoachRefusal> {
  const logs = await store.readPeriod(caller, { from, to });
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
    target: { from, to, logs: logs.flatMap(({ id, text }) => (text === '' ? [] : [id])) },
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
