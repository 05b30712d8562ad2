/** The coach as the functions see it: a refusal, or the events of an analysis. */
import type {
  CoachEvent,
  CoachRefusal,
  FeedbackRequest,
  FeedbackResult,
  TrendRequest,
  TrendResult,
} from '#domain/coach/coach.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Caller } from '../http/authenticate.ts';
import type { Logger } from '../log.ts';
import { createConcurrencyLimiter } from '../http/requests/concurrency-limiter.ts';
import { createCoachStore } from './coach-store.ts';
import type { CoachSettings } from './coach-settings.ts';
import { feedbackJob } from './feedback.ts';
import { inputHash } from './input-hash.ts';
import { createCoachModel } from './model/model.ts';
import { beginAnalysis, noRoom } from './run-analysis.ts';
import type { Events, Job } from './run-analysis.ts';
import { trendJob } from './trend.ts';

export type Answer<Result> =
  /** Must be read to its end. The signal says that nobody reads any more. */
  | { events: (left: AbortSignal) => AsyncGenerator<CoachEvent<Result>> }
  | { refused: CoachRefusal; retryAfterSeconds?: number; limit?: number }
  /** Before anything was begun; nobody is there to be answered. */
  | 'left';
type SignedIn = Caller & { userId: string };

export type Coach = {
  /** Throws a DataError when too many wait already. `left`: the caller has gone away. */
  feedback(caller: SignedIn, request: FeedbackRequest, left: AbortSignal): Promise<Answer<FeedbackResult>>;
  trend(caller: SignedIn, request: TrendRequest, left: AbortSignal): Promise<Answer<TrendResult>>;
  /** The server stops: what is under way has a few seconds to be finished, then its readers are told that it failed. */
  endSoon(): void;
  /** Resolves once no analysis is under way any more. Whoever stops the server closes their connections first. */
  settled(): Promise<void>;
};

/** Half of what requests get (`http/listen.ts`), so that the last words still arrive. */
const STOP_GRACE_MS = 5_000;

type Given = { settings: CoachSettings; database: Database; clock: Clock; log: Logger };

export function createCoach({ settings, database, clock, log }: Given): Coach {
  const deps = { store: createCoachStore(database), model: createCoachModel(settings), log, clock, limits: settings };

  const underWay = new Map<AbortController, Promise<void>>();
  let isEnding = false;
  let grace: NodeJS.Timeout | undefined;

  // Logs may be long and the questions many: they are read once it is known that they may be, and by a few at once.
  const limiter = createConcurrencyLimiter({ maxUsers: 2, maxQueued: 500, maxQueuedPerUser: 10 });

  async function begin<Result>(
    { identity, userId }: SignedIn,
    force: boolean,
    left: AbortSignal,
    readJob: () => Promise<Job<Result> | CoachRefusal>,
  ): Promise<Answer<Result>> {
    const { store, limits } = deps;
    const [{ premium, consent }, before] = await Promise.all([store.readStanding(identity), store.triesSoFar(userId)]);
    if (!premium) return { refused: 'premium' };
    if (!consent) return { refused: 'ai_consent' };
    const withThis = { ...before, tries: before.tries + 1, underWay: before.underWay + 1 };
    const full = noRoom(withThis, limits.dailyLimit);
    if (full && force) return full;
    const end = await limiter.acquire(userId);
    let job: Job<Result> | CoachRefusal;
    try {
      if (left.aborted) return 'left';
      job = await readJob();
    } finally {
      end();
    }
    if (typeof job === 'string') return { refused: job };
    // What was said before is told again, however much has been asked today.
    if (full && !(await store.findByInput(userId, job.kind, inputHash(deps.model, job.prompt)))) return full;
    if (left.aborted) return 'left';
    const begun = await beginAnalysis(deps, job, force);
    if ('refused' in begun) return begun;
    return { events: (reader) => watched(begun.events, AbortSignal.any([reader, left])) };
  }

  /** A claim that is not given back before the database closes would keep its day from everybody until its lease ends. */
  async function* watched<Result>(events: Events<Result>, left: AbortSignal): AsyncGenerator<CoachEvent<Result>> {
    const stopped = new AbortController();
    if (isEnding) stopped.abort();
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.set(stopped, promise);
    try {
      yield* events(left, stopped.signal);
    } finally {
      underWay.delete(stopped);
      resolve();
    }
  }

  return {
    feedback: (caller, { date, force = false }, left) =>
      begin(caller, force, left, () => feedbackJob(deps, caller, date)),
    trend: (caller, request, left) =>
      begin(caller, request.force ?? false, left, () => trendJob(deps, caller, request)),
    endSoon() {
      grace ??= setTimeout(() => {
        isEnding = true;
        for (const stopped of underWay.keys()) stopped.abort();
      }, STOP_GRACE_MS);
    },
    async settled() {
      await Promise.all(underWay.values());
      clearTimeout(grace);
    },
  };
}
