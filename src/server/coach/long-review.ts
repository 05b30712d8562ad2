/**
 * The review of a quarter or a year: summaries of its months, then the review of these summaries. Each summary is an
 * analysis of its own, found again by its input, so a review that failed or was left continues with the months that are
 * missing, and a later one pays only for months that have changed.
 */
import {
  AI_MESSAGES,
  dailyLimitText,
  type CoachEvent,
  type CoachRefusal,
  type ReviewRequest,
  type ReviewResult,
} from '#domain/coach/coach.ts';
import { monthsOfRange } from '#domain/plan/review-period.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { prepareLongReview, prepareMonth, type MonthOfReview } from './prepare-analysis.ts';
import {
  beginAnalysis,
  inputHash,
  problemEvent,
  type Events,
  type LimitRefusal,
  type RunDeps,
} from './run-analysis.ts';

/** Runs what reads logs, when it is this user's turn. */
type Turn = <Value>(read: () => Promise<Value>) => Promise<Value>;

/** `summary`: null for a month that the coach has to read. */
type PlannedMonth = MonthOfReview & { summary: string | null };
export type LongReviewPlan = { months: PlannedMonth[]; fingerprint: string };

/** Finds out which months have logs, and which of their summaries are kept. Holds one month of logs in memory. */
export async function planLongReview(
  deps: RunDeps,
  caller: SignedInCaller,
  { from, to }: ReviewRequest,
): Promise<LongReviewPlan | CoachRefusal> {
  const fingerprint = await deps.store.readFingerprint(caller, { from, to });
  const months: PlannedMonth[] = [];
  for (const range of monthsOfRange({ from, to })) {
    const prepared = await prepareMonth(deps, caller, range);
    if (!prepared) continue;
    const { job, month } = prepared;
    const kept = await deps.store.findByInput(caller.userId, job.kind, inputHash(deps.model, job.prompt));
    months.push({ ...month, summary: kept?.text ?? null });
  }
  return months.length === 0 ? 'no_entry' : { months, fingerprint };
}

/** The caller consumes the events to their end. */
export function runLongReview(
  deps: RunDeps,
  caller: SignedInCaller,
  request: ReviewRequest,
  { months, fingerprint }: LongReviewPlan,
  takeTurn: Turn,
): Events<ReviewResult> {
  return async function* longReview(disconnected, stopped): AsyncGenerator<CoachEvent<ReviewResult>> {
    const unread = months.filter(({ summary }) => summary === null).length;
    const progress = (step: number, month: PlannedMonth | null): CoachEvent<ReviewResult> => ({
      event: 'progress',
      data: { step, of: months.length + 1, month: month?.from ?? null, analyses: unread + 1 },
    });
    const read: (MonthOfReview & { summary: string })[] = [];
    for (const [index, month] of months.entries()) {
      if (month.summary !== null) {
        read.push({ ...month, summary: month.summary });
        continue;
      }
      yield progress(index + 1, month);
      // Each month is sent on its own, so plan, consent and session are checked before each.
      if (!(await deps.store.isStillAllowed(caller))) return yield problemEvent('general');
      if (disconnected.aborted) return;
      const prepared = await takeTurn(() => prepareMonth(deps, caller, month));
      // Its logs were deleted meanwhile.
      if (!prepared) continue;
      const begun = await beginAnalysis(deps, prepared.job, false);
      if ('refused' in begun) return yield refusedEvent(begun);
      let summary: string | null = null;
      for await (const event of begun.events(disconnected, stopped)) {
        if (event.event === 'problem') return yield event;
        if (event.event === 'done') summary = event.data;
      }
      // The client has left.
      if (summary === null) return;
      read.push({ ...prepared.month, summary });
    }
    if (read.length === 0) return yield problemEvent('general');
    yield progress(months.length + 1, null);
    if (!(await deps.store.isStillAllowed(caller))) return yield problemEvent('general');
    const begun = await beginAnalysis(
      deps,
      prepareLongReview(caller, request, read, fingerprint),
      request.force ?? false,
    );
    if ('refused' in begun) return yield refusedEvent(begun);
    yield* begun.events(disconnected, stopped);
  };
}

const refusedEvent = (refusal: LimitRefusal): CoachEvent<never> => ({
  event: 'refused',
  data:
    refusal.refused === 'running'
      ? { code: 'running', message: AI_MESSAGES.running, retryAfterSeconds: null }
      : {
          code: 'daily_limit',
          message: dailyLimitText(refusal.limit),
          retryAfterSeconds: refusal.retryAfterSeconds,
        },
});
