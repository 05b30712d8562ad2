/** Entry point of the coach for `functions/`: answers with a refusal or the event stream of an analysis. */
import {
  AI_MESSAGES,
  dailyLimitText,
  type CoachEvent,
  type CoachRefusal,
  type FeedbackRequest,
  type FeedbackResult,
  type ReviewRequest,
  type ReviewResult,
} from '#domain/coach/coach.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { BusyError, currentRequestContext, markRefused } from '../load/request-context.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { NO_EVENTS, type EventCounters } from '../metrics/events.ts';
import { createCoachStore } from './coach-store.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { CoachSettings } from '../config/provider-settings.ts';
import { isLongPeriod, monthsOfRange } from '#domain/plan/review-period.ts';
import {
  prepareFeedback,
  prepareReview,
  prepareLongReview,
  prepareMonth,
  type MonthOfReview,
} from './prepare-analysis.ts';
import {
  inputHash,
  beginAnalysis,
  checkLimits,
  problemEvent,
  type Events,
  type Job,
  type LimitRefusal,
  type RunDeps,
} from './run-analysis.ts';
import { createCoachModel } from './model/create-model.ts';

export type Answer<Result> =
  /** The caller must consume the generator to its end. The signal aborts when the client disconnects. */
  | { events: (disconnected: AbortSignal) => AsyncGenerator<CoachEvent<Result>> }
  | { refused: CoachRefusal; retryAfterSeconds?: number; limit?: number }
  /** The client disconnected before the analysis started. */
  | 'disconnected';

export type Coach = {
  /**
   * Throws a BusyError when the queue is full or too many analyses are running. `disconnected` aborts when the client
   * closes the connection.
   */
  feedback(
    caller: SignedInCaller,
    request: FeedbackRequest,
    disconnected: AbortSignal,
  ): Promise<Answer<FeedbackResult>>;
  review(caller: SignedInCaller, request: ReviewRequest, disconnected: AbortSignal): Promise<Answer<ReviewResult>>;
  /** Starts the shutdown: running analyses get a grace period, then end with a problem event. */
  beginShutdown(): void;
  /** Resolves when no analysis is running. On shutdown, close the client connections first, so that none starts. */
  whenIdle(): Promise<void>;
};

/** Half of the time that a shutdown waits for requests (`http/listen.ts`), so that the last events reach the client. */
const STOP_GRACE_MS = 5_000;

/** Each analysis holds a connection to the provider, and half a megabyte of memory. */
const MAX_RUNNING_ANALYSES = 250;

type Deps = {
  settings: CoachSettings;
  database: Database;
  clock: Clock;
  limiters: Limiters;
  log: Logger;
  events?: Pick<EventCounters, 'analysis'>;
};

const PREPARATIONS = { maxRunning: 2, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };

export function createCoach({ settings, database, clock, limiters, log, events = NO_EVENTS }: Deps): Coach {
  const deps = {
    store: createCoachStore(database),
    model: createCoachModel(settings),
    log,
    clock,
    events,
    limits: settings,
  };

  const running = new Map<AbortController, Promise<void>>();
  let isStopping = false;
  let graceTimer: NodeJS.Timeout | undefined;

  // Logs can be long: load them only after the access checks, and for few users at a time.
  const limiter = limiters.createLimiter('coach', PREPARATIONS);
  const analyses = limiters.createQuota('analyses', MAX_RUNNING_ANALYSES);

  async function startAnalysis<Result>(
    caller: SignedInCaller,
    force: boolean,
    disconnected: AbortSignal,
    prepareJob: () => Promise<Job<Result> | CoachRefusal>,
  ): Promise<Answer<Result>> {
    const { store, limits } = deps;
    const { userId } = caller;
    const [{ premium, consent }, tries] = await Promise.all([store.readAccess(caller), store.readTries(userId)]);
    if (!premium) return { refused: 'premium' };
    if (!consent) return { refused: 'ai_consent' };
    const triesWithThisOne = { ...tries, tries: tries.tries + 1, running: tries.running + 1 };
    const limitRefusal = checkLimits(triesWithThisOne, limits.dailyLimit);
    if (limitRefusal && force) return limitRefusal;
    const context = currentRequestContext();
    const job = await runLimited(limiter, async () => (disconnected.aborted ? null : prepareJob()), context);
    if (job === null) return 'disconnected';
    if (typeof job === 'string') return { refused: job };
    // Stored analyses are replayed even over the limit: they cost no call to the provider.
    if (limitRefusal && !(await store.findByInput(userId, job.kind, inputHash(deps.model, job.prompt)))) {
      return limitRefusal;
    }
    if (disconnected.aborted) return 'disconnected';
    const giveBack = takeQuota();
    try {
      const analysis = await beginAnalysis(deps, job, force);
      if ('refused' in analysis) {
        giveBack();
        return analysis;
      }
      return { events: (reader) => trackUntilEnd(analysis.events, AbortSignal.any([reader, disconnected]), giveBack) };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /**
   * Like `startAnalysis`. A long review calls the provider several times, so the limits are also checked before each.
   */
  async function startLongReview(
    caller: SignedInCaller,
    request: ReviewRequest,
    disconnected: AbortSignal,
  ): Promise<Answer<ReviewResult>> {
    const { store, limits } = deps;
    const [{ premium, consent }, tries] = await Promise.all([store.readAccess(caller), store.readTries(caller.userId)]);
    if (!premium) return { refused: 'premium' };
    if (!consent) return { refused: 'ai_consent' };
    // The stream reads further months after the request's context is gone.
    const context = currentRequestContext();
    const takeTurn = <Value>(read: () => Promise<Value>): Promise<Value> => runLimited(limiter, read, context);
    const plan = await takeTurn(() => planLongReview(deps, caller, request));
    if (typeof plan === 'string') return { refused: plan };
    const isRead = plan.months.every(({ summary }) => summary !== null);
    const triesWithThisOne = { ...tries, tries: tries.tries + 1, running: tries.running + 1 };
    const limitRefusal = checkLimits(triesWithThisOne, limits.dailyLimit);
    // With all months summarised, the review may be stored already and cost no try: runLongReview checks the limit.
    if (limitRefusal && !isRead) return limitRefusal;
    if (disconnected.aborted) return 'disconnected';
    const giveBack = takeQuota();
    const run = runLongReview(deps, caller, request, plan, takeTurn);
    return { events: (reader) => trackUntilEnd(run, AbortSignal.any([reader, disconnected]), giveBack) };
  }

  /** Counts an analysis of this request's address as running until the returned function is called. Throws BusyError. */
  function takeQuota(): () => void {
    const { address } = currentRequestContext();
    if (!analyses.take(address)) {
      markRefused();
      throw new BusyError('full');
    }
    return () => analyses.giveBack(address);
  }

  /**
   * Lets shutdown wait until the claim is released: an unreleased claim blocks its day or period until the lease ends.
   */
  async function* trackUntilEnd<Result>(
    run: Events<Result>,
    disconnected: AbortSignal,
    giveBack: () => void,
  ): AsyncGenerator<CoachEvent<Result>> {
    const stopped = new AbortController();
    if (isStopping) stopped.abort();
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(stopped, promise);
    try {
      yield* run(disconnected, stopped.signal);
    } finally {
      running.delete(stopped);
      giveBack();
      resolve();
    }
  }

  return {
    feedback: (caller, { date, force = false }, disconnected) =>
      startAnalysis(caller, force, disconnected, () => prepareFeedback(deps, caller, date)),
    review: (caller, request, disconnected) =>
      isLongPeriod(request.period)
        ? startLongReview(caller, request, disconnected)
        : startAnalysis(caller, request.force ?? false, disconnected, () => prepareReview(deps, caller, request)),
    beginShutdown() {
      graceTimer ??= setTimeout(() => {
        isStopping = true;
        for (const stopped of running.keys()) stopped.abort();
      }, STOP_GRACE_MS);
    },
    async whenIdle() {
      await Promise.all(running.values());
      clearTimeout(graceTimer);
    },
  };
}

// The review of a quarter or a year: summaries of its months, then the review of these summaries. Each summary is an
// analysis of its own, found again by its input, so a review that failed or was left continues with the months that are
// missing, and a later one pays only for months that have changed.

/** Runs `read` in the limiter of `PREPARATIONS`, because it loads logs. */
type Turn = <Value>(read: () => Promise<Value>) => Promise<Value>;

/** `summary`: null for a month that the coach has to read. */
type PlannedMonth = MonthOfReview & { summary: string | null };
export type LongReviewPlan = { months: PlannedMonth[]; fingerprint: string };

/** Finds out which months have logs, and which of their summaries are kept. Holds one month of logs in memory. */
async function planLongReview(
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
function runLongReview(
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
      // The logs of the month were deleted meanwhile.
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
      : { code: 'daily_limit', message: dailyLimitText(refusal.limit), retryAfterSeconds: refusal.retryAfterSeconds },
});
