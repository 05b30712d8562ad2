/**
 * The functions of the coach, `ai-feedback` and `trend-analysis`: a refusal as JSON, or the event stream of an
 * analysis.
 */
import type { Context } from 'hono';
import { AI_MESSAGES, dailyLimitText, type ReviewRequest, type CoachRefusal } from '#domain/coach/coach.ts';
import { FAIR_USE_ANALYSES } from '#domain/plan/plan.ts';
import { isDay, earliestCurrentDay, latestToday } from '#domain/day/day.ts';
import { isReviewRange, REVIEW_PERIODS, type ReviewPeriod } from '#domain/plan/review-period.ts';
import type { Clock } from '../clock.ts';
import type { Coach, Answer } from '../coach/coach.ts';
import type { Database, Identity } from '../database/database.ts';
import { FunctionError, readBody } from './function-request.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { eventStream } from '../http/event-stream.ts';
import { isCallerPremium } from '../plans/change-plan.ts';

const STATUS = {
  premium: 403,
  ai_consent: 403,
  no_entry: 404,
  too_short: 400,
  canned: 400,
  bad_request: 400,
  running: 409,
  daily_limit: 429,
  not_configured: 503,
} as const satisfies Record<CoachRefusal, number>;

type RefusalTexts = Readonly<Record<CoachRefusal, string>>;

/** The refusal texts that the functions ai-feedback and trend-analysis share. */
const COMMON_TEXTS = {
  ai_consent: AI_MESSAGES.noConsent,
  canned: AI_MESSAGES.canned,
  bad_request: AI_MESSAGES.badRequest,
  running: AI_MESSAGES.running,
  daily_limit: dailyLimitText(FAIR_USE_ANALYSES),
  not_configured: AI_MESSAGES.notConfigured,
} as const;

function answerCoach(answer: Answer<unknown>, texts: RefusalTexts): Response {
  if (answer === 'disconnected') return new Response(null, { status: 204 });
  if ('events' in answer) return eventStream(answer.events);
  const { refused, retryAfterSeconds, limit } = answer;
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  const text = limit === undefined ? texts[refused] : dailyLimitText(limit);
  throw new FunctionError(STATUS[refused], text, { code: refused, headers });
}

/** The refusal on a server without a coach. A free user gets `premium`, as on a server with a coach. */
async function refusalWithoutCoach(database: Database, identity: Identity): Promise<{ refused: CoachRefusal }> {
  return { refused: (await isCallerPremium(database, identity)) ? 'not_configured' : 'premium' };
}

const FEEDBACK_TEXTS: RefusalTexts = {
  ...COMMON_TEXTS,
  premium: AI_MESSAGES.premium,
  no_entry: AI_MESSAGES.noEntry,
  too_short: AI_MESSAGES.tooShort,
};

/** `ai-feedback` {date, force?}: streams the coach's feedback on a day (docs/decisions/0014). */
export function streamFeedback({ coach, database }: { coach: Coach | null; database: Database }) {
  return async (context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> => {
    if (!coach) return answerCoach(await refusalWithoutCoach(database, caller.identity), FEEDBACK_TEXTS);
    const { date, force } = await readBody(context);
    if (!isDay(date)) return answerCoach({ refused: 'bad_request' }, FEEDBACK_TEXTS);
    const request = { date, force: force === true };
    return answerCoach(await coach.feedback(caller, request, context.req.raw.signal), FEEDBACK_TEXTS);
  };
}

const REVIEW_TEXTS: RefusalTexts = {
  ...COMMON_TEXTS,
  premium: AI_MESSAGES.reviewsPremium,
  no_entry: AI_MESSAGES.emptyPeriod,
  too_short: AI_MESSAGES.reviewTooShort,
};

type ReviewDeps = { coach: Coach | null; database: Database; clock: Clock };

/** `trend-analysis` {period, from, to, force?}: streams the coach's review of a period (docs/decisions/0014). */
export function streamReview({ coach, database, clock }: ReviewDeps) {
  return async (context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> => {
    if (!coach) return answerCoach(await refusalWithoutCoach(database, caller.identity), REVIEW_TEXTS);
    const request = readRequest(await readBody(context), clock.now());
    if (!request) return answerCoach({ refused: 'bad_request' }, REVIEW_TEXTS);
    return answerCoach(await coach.review(caller, request, context.req.raw.signal), REVIEW_TEXTS);
  };
}

const isPeriod = (value: unknown): value is ReviewPeriod =>
  typeof value === 'string' && Object.hasOwn(REVIEW_PERIODS, value);

/**
 * The range must match the period's name. It must end with its quarter or year, or on a date that is today in some time
 * zone, because the user's is unknown.
 */
function readRequest({ period, from, to, force }: Record<string, unknown>, now: Date): ReviewRequest | null {
  if (!isPeriod(period) || !isDay(from) || !isDay(to)) return null;
  if (!isReviewRange(period, { from, to }, earliestCurrentDay(now), latestToday(now))) return null;
  return { period, from, to, force: force === true };
}
