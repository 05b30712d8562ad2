/** `trend-analysis` {period, from, to, force?}: streams the coach's review of a period (docs/decisions/0014). */
import type { Context } from 'hono';
import { AI_MESSAGES, type TrendRequest } from '#domain/coach/coach.ts';
import { earliestToday, isDay, latestToday } from '#domain/day/day.ts';
import { firstDayOf, REVIEW_PERIODS, type ReviewPeriod } from '#domain/plan/review-period.ts';
import type { Clock } from '../clock.ts';
import type { Coach } from '../coach/coach.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { coachAnswer, COMMON_TEXTS, refusalWithoutCoach, type RefusalTexts } from './coach-answer.ts';
import { readBody } from './read-body.ts';

const TEXTS: RefusalTexts = {
  ...COMMON_TEXTS,
  premium: AI_MESSAGES.reviewsPremium,
  no_entry: AI_MESSAGES.emptyPeriod,
  too_short: AI_MESSAGES.trendTooShort,
};

type TrendDeps = { coach: Coach | null; database: Database; clock: Clock };

export function trendAnalysis({ coach, database, clock }: TrendDeps) {
  return async (context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> => {
    if (userId === null) return coachAnswer(context, { refused: 'premium' }, TEXTS);
    if (!coach) return coachAnswer(context, await refusalWithoutCoach(database, identity), TEXTS);
    const request = readRequest(await readBody(context), clock.now());
    if (!request) return coachAnswer(context, { refused: 'bad_request' }, TEXTS);
    return coachAnswer(context, await coach.trend({ identity, userId }, request, context.req.raw.signal), TEXTS);
  };
}

const isPeriod = (value: unknown): value is ReviewPeriod =>
  typeof value === 'string' && Object.hasOwn(REVIEW_PERIODS, value);

/**
 * The range must match the period's name and end on a date that is today somewhere: the user's time zone is unknown.
 */
function readRequest({ period, from, to, force }: Record<string, unknown>, now: Date): TrendRequest | null {
  if (!isPeriod(period) || !isDay(from) || !isDay(to)) return null;
  if (to < earliestToday(now) || to > latestToday(now) || from !== firstDayOf(period, to)) return null;
  return { period, from, to, force: force === true };
}
