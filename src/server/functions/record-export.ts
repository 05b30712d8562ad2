/** `record-export` {}: writes down that the caller's plan was used for an export, before the browser gives the file out. */
import type { Context } from 'hono';
import { MESSAGES } from '#domain/messages.ts';
import type { Database } from '../database/database.ts';
import { sqlFor } from '../database/sql-for.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/caller.ts';
import { callerIsPremium } from '../plans/caller-is-premium.ts';

export function recordExport({ database }: { database: Database }) {
  return async (context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> => {
    if (userId === null || !(await callerIsPremium(database, identity))) {
      return context.json({ success: false, error: MESSAGES.exportIsPremium }, 403);
    }
    await database.asService('export').run(sqlFor.insertInto('plan_uses').values({ user_id: userId, kind: 'export' }));
    return context.json({ success: true });
  };
}
