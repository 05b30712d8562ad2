/** Responses of the coach's two functions: a refusal as JSON, or the event stream of an analysis. */
import type { Context } from 'hono';
import {
  AI_MESSAGES,
  dailyLimitText,
  FAIR_USE_ANALYSES,
  type CoachRefusal,
  type CoachRefusalAnswer,
} from '#domain/coach/coach.ts';
import type { Answer } from '../coach/coach.ts';
import type { Database, Identity } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { isCallerPremium } from '../plans/is-caller-premium.ts';
import { eventStream } from '../http/event-stream.ts';

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

export type RefusalTexts = Readonly<Record<CoachRefusal, string>>;

/** The refusal texts that the functions ai-feedback and trend-analysis share. */
export const COMMON_TEXTS = {
  ai_consent: AI_MESSAGES.noConsent,
  canned: AI_MESSAGES.canned,
  bad_request: AI_MESSAGES.badRequest,
  running: AI_MESSAGES.running,
  daily_limit: dailyLimitText(FAIR_USE_ANALYSES),
  not_configured: AI_MESSAGES.notConfigured,
} as const;

export function coachAnswer(context: Context<AppEnv>, answer: Answer<unknown>, texts: RefusalTexts): Response {
  if (answer === 'disconnected') return new Response(null, { status: 204 });
  if ('events' in answer) return eventStream(answer.events);
  const { refused, retryAfterSeconds, limit } = answer;
  if (retryAfterSeconds !== undefined) context.header('Retry-After', String(retryAfterSeconds));
  const body: CoachRefusalAnswer = {
    success: false,
    code: refused,
    error: limit === undefined ? texts[refused] : dailyLimitText(limit),
  };
  return context.json(body, STATUS[refused]);
}

/** The refusal on a server without a coach. A free user gets `premium`, as on a server with a coach. */
export async function refusalWithoutCoach(database: Database, identity: Identity): Promise<{ refused: CoachRefusal }> {
  return { refused: (await isCallerPremium(database, identity)) ? 'not_configured' : 'premium' };
}
