/** The coach as the functions see it: a refusal, or the events of an analysis. */
import type { CoachRefusal, FeedbackRequest, FeedbackResult, TrendRequest, TrendResult } from '#domain/coach.ts';
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

export type Answer<Result> = { events: Events<Result> } | { refused: CoachRefusal; retryAfterSeconds?: number };
type SignedIn = Caller & { userId: string };

export type Coach = {
  feedback(caller: SignedIn, request: FeedbackRequest): Promise<Answer<FeedbackResult>>;
  trend(caller: SignedIn, request: TrendRequest): Promise<Answer<TrendResult>>;
  /** Resolves once no analysis is under way any more. Whoever stops the server ends their streams first. */
  settled(): Promise<void>;
};

type Given = { settings: CoachSettings; database: Database; clock: Clock; log: Logger };

export function createCoach({ settings, database, clock, log }: Given): Coach {
  const deps = { store: createCoachStore(database), model: createCoachModel(settings), log, clock, limits: settings };

  const underWay = new Set<Promise<void>>();

  async function begin<Result>(job: Job<Result> | CoachRefusal, force = false): Promise<Answer<Result>> {
    if (typeof job === 'string') return { refused: job };
    const begun = await beginAnalysis(deps, job, force);
    return 'events' in begun ? { events: (left) => watched(begun.events(left)) } : begun;
  }

  /** A claim that is not given back before the database closes would keep its day from everybody until its lease ends. */
  async function* watched<Event>(events: AsyncGenerator<Event>): AsyncGenerator<Event> {
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.add(promise);
    try {
      yield* events;
    } finally {
      underWay.delete(promise);
      resolve();
    }
  }

  return {
    feedback: async (caller, { date, force }) => begin(await feedbackJob(deps, caller, date), force),
    trend: async (caller, request) => begin(await trendJob(deps, caller, request), request.force),
    settled: async () => void (await Promise.all(underWay)),
  };
}
