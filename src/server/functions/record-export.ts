/** `record-export` {}: records a plan use before the browser hands out the exported file. */
import type { Context } from 'hono';
import { MESSAGES } from '#domain/messages.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { FunctionError } from './wire.ts';
import { isCallerPremium, recordPlanUse } from '../plans/caller-plan.ts';

/** Threat: a caller floods the append-only table of plan uses. Within this time a further export adds no row. */
const MIN_INTERVAL_SECONDS = 60;

export function recordExport({ database }: { database: Database }) {
  return async (context: Context<AppEnv>, { identity, userId }: SignedInCaller): Promise<Response> => {
    if (!(await isCallerPremium(database, identity))) throw new FunctionError(403, MESSAGES.exportIsPremium);
    await recordPlanUse(database.asService('record an export'), userId, 'export', MIN_INTERVAL_SECONDS);
    return context.json({ success: true });
  };
}
