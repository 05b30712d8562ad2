/** The coach as the functions see it: a refusal, or the events of an analysis. */
import type {
  CoachEvent,
  CoachRefusal,
  FeedbackRequest,
  FeedbackResult,
  TrendRequest,
  TrendResult,
} from '#domain/coach.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Caller } from '../http/caller.ts';
import type { Logger } from '../log.ts';
import { createCoachStore } from './coach-store.ts';
import type { CoachSettings } from './coach-settings.ts';
import { feedbackJob } from './feedback.ts';
import { createCoachModel } from './model.ts';
import { beginAnalysis } from './run-analysis.ts';
import type { Events, Job } from './run-analysis.ts';
import { trendJob } from './trend.ts';

export type Answer<Result> =
  /** Must be read to its end. The signal says that nobody reads any more. */
  | { events: (left: AbortSignal) => AsyncGenerator<CoachEvent<Result>> }
  | { refused: CoachRefusal; retryAfterSeconds?: number };
type SignedIn = Caller & { userId: string };

export type Coach = {
  feedback(caller: SignedIn, request: FeedbackRequest): Promise<Answer<FeedbackResult>>;
  trend(caller: SignedIn, request: TrendRequest): Promise<Answer<TrendResult>>;
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

  async function begin<Result>(job: Job<Result> | CoachRefusal, force = false): Promise<Answer<Result>> {
    if (typeof job === 'string') return { refused: job };
    const begun = await beginAnalysis(deps, job, force);
    return 'events' in begun ? { events: (left) => watched(begun.events, left) } : begun;
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
    feedback: async (caller, { date, force }) => begin(await feedbackJob(deps, caller, date), force),
    trend: async (caller, request) => begin(await trendJob(deps, caller, request), request.force),
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
