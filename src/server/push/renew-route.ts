/**
 * `POST /push/renew` {token, subscription}: the service worker got another subscription in place of its own. It has no
 * session, so a token of the device stands for it, which this browser alone has.
 *
 * Threat: a stranger guesses a token. It has 128 random bits, and every wrong one costs a slot of a small queue.
 */
import { Hono } from 'hono';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { limitBody, readText } from '../http/limit-body.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { parseJson } from '../parse-json.ts';
import type { Push } from './push.ts';
import { readSubscription, renewSubscription } from './subscriptions.ts';

const MAX_BODY_BYTES = 8 * 1024;

type RenewDeps = { push: Push; database: Database; limiters: Limiters };

export function renewRoute({ push, database, limiters }: RenewDeps): Hono<AppEnv> {
  const limiter = limiters.createLimiter('push_renewals', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 100,
    maxQueuedPerClient: 10,
  });
  const routes = new Hono<AppEnv>();
  routes.post('/renew', limitBody(MAX_BODY_BYTES), async (context) => {
    const { token, subscription } = (parseJson(await readText(context)) ?? {}) as Record<string, unknown>;
    const target = readSubscription(subscription);
    if (target === null || typeof token !== 'string' || !push.accepts(target.endpoint))
      return context.json({ success: false }, 400);
    const service = database.asService('renew a push subscription');
    const isRenewed = await runLimited(limiter, () => renewSubscription(service, token, target));
    // The browser then ends the new subscription: the device was removed.
    return context.json({ success: isRenewed }, isRenewed ? 200 : 410);
  });
  return routes;
}
