/** `ai-feedback` {date, force?}: streams the coach's feedback on a day (docs/decisions/0014). */
import type { Context } from 'hono';
import { AI_MESSAGES } from '#domain/coach/coach.ts';
import { isDay } from '#domain/day/day.ts';
import type { Coach } from '../coach/coach.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { coachAnswer, COMMON_TEXTS, refusalWithoutCoach, type RefusalTexts } from './coach-answer.ts';
import { readBody } from './read-body.ts';

const TEXTS: RefusalTexts = {
  ...COMMON_TEXTS,
  premium: AI_MESSAGES.premium,
  no_entry: AI_MESSAGES.noEntry,
  too_short: AI_MESSAGES.tooShort,
};

export function aiFeedback({ coach, database }: { coach: Coach | null; database: Database }) {
  return async (context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> => {
    if (userId === null) return coachAnswer(context, { refused: 'premium' }, TEXTS);
    if (!coach) return coachAnswer(context, await refusalWithoutCoach(database, identity), TEXTS);
    const { date, force } = await readBody(context);
    if (!isDay(date)) return coachAnswer(context, { refused: 'bad_request' }, TEXTS);
    const request = { date, force: force === true };
    return coachAnswer(context, await coach.feedback({ identity, userId }, request, context.req.raw.signal), TEXTS);
  };
}
