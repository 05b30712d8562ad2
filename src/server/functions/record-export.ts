/** `record-export` {}: records a plan use before the browser hands out the exported file. */
import type { Context } from 'hono';
import { MESSAGES } from '#domain/messages.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { isCallerPremium } from '../plans/is-caller-premium.ts';

/** Inserts at most one row per user and minute. Threat: a caller floods the append-only table. */
const INSERT_PLAN_USE = `
  insert into public.plan_uses (user_id, kind)
  select $1::uuid, 'export'
   where not exists (select from public.plan_uses
                      where user_id = $1::uuid and kind = 'export' and used_at > now() - interval '1 minute')`;

export function recordExport({ database }: { database: Database }) {
  return async (context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> => {
    if (userId === null || !(await isCallerPremium(database, identity))) {
      return context.json({ success: false, error: MESSAGES.exportIsPremium }, 403);
    }
    await database.asService('record an export').statement(INSERT_PLAN_USE, [userId]);
    return context.json({ success: true });
  };
}
