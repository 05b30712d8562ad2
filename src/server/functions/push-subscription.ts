/**
 * `push-subscription` {subscription}: this browser shows the caller's reminders until its session ends or the device is
 * removed (docs/specification/habit.md 6). Without a subscription the answer has the key that a browser subscribes with.
 */
import type { Context } from 'hono';
import pg from 'pg';
import { MAX_PUSH_DEVICES, type PushDevice } from '#domain/habit/push-message.ts';
import { deviceOf } from '../auth/http/device.ts';
import type { AuthDeps } from '../auth/http/auth-deps.ts';
import { describeDevice } from '../auth/sessions/describe-device.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { Push } from '../push/push.ts';
import { readSubscription, storeSubscription } from '../push/subscriptions.ts';
import { FunctionError, readBody } from './wire.ts';

type Deps = { database: Database; auth: AuthDeps; push: Push | null };

export function pushSubscription({ database, auth, push }: Deps) {
  return async function subscribe(context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> {
    if (push === null) throw new FunctionError(503, 'This server sends no notifications.');
    const { subscription } = await readBody(context);
    if (subscription === undefined) return context.json({ success: true, publicKey: push.publicKey });
    const target = readSubscription(subscription);
    if (target === null) throw new FunctionError(400, 'This is no subscription of a browser.');
    if (!push.accepts(target.endpoint)) {
      const host = URL.parse(target.endpoint)?.hostname ?? '';
      throw new FunctionError(403, `This server does not send to the push service of this browser (${host}).`);
    }
    const { session_id: sessionId } = JSON.parse(caller.identity.claimsJson) as { session_id?: string };
    if (sessionId === undefined) throw new FunctionError(403, 'Please sign in again.');
    const device = describeDevice(deviceOf(context, auth).userAgent);
    try {
      const stored = await database.transactAsService('store a push subscription', (transaction) =>
        storeSubscription(transaction, { userId: caller.userId, sessionId, device, target }),
      );
      if (stored === null) throw new FunctionError(409, 'Another browser has this subscription.');
      context.header('Cache-Control', 'no-store');
      return context.json({ success: true, ...stored } satisfies PushDevice & { success: true });
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined;
      if (code === '54000')
        throw new FunctionError(409, `You can have ${MAX_PUSH_DEVICES} devices. Remove one of them first.`);
      // The session has ended meanwhile.
      if (code === '23503') throw new FunctionError(403, 'Please sign in again.');
      throw error;
    }
  };
}
