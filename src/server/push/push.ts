/** Push messages of this server: the key that browsers subscribe with, and reminders on all devices of a user. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import type { RemindOnDevices } from '../habit/send-reminders.ts';
import type { Logger } from '../log.ts';
import { isPushEndpoint, type PushSettings } from '../config/provider-settings.ts';
import { deleteGone, readTargets, recordSent, readSubscription, renewSubscription } from './subscriptions.ts';
import { createWebPush, type PushOutcome } from './web-push.ts';
import { Hono } from 'hono';
import type { AppEnv } from '../http/app-env.ts';
import { limitBody, readText } from '../http/limit-body.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { parseJson } from '../parse-json.ts';

export type Push = {
  /** The `applicationServerKey` of subscriptions, in base64url. */
  publicKey: () => Promise<string>;
  accepts: (endpoint: string) => boolean;
  remind: RemindOnDevices;
};

type Deps = {
  settings: PushSettings;
  config: Pick<Config, 'publicUrl' | 'contact'>;
  /** `deriveSecret('push')` */
  secret: Buffer;
  database: Database;
  clock: Clock;
  log: Logger;
};

export function createPush({ settings, config, secret, database, clock, log }: Deps): Push {
  const webPush = createWebPush({ secret, subject: contactOf(config), clock });
  const accepts = (endpoint: string): boolean => isPushEndpoint(endpoint, settings);

  async function remind(...[userId, message]: Parameters<RemindOnDevices>): ReturnType<RemindOnDevices> {
    const service = database.asService('push a reminder');
    const targets = await readTargets(service, userId);
    const text = JSON.stringify(message);
    const results = await Promise.all(
      targets.map(async (target) => {
        // An endpoint may have been accepted before the operator changed the list. Its device is then removed.
        const outcome: PushOutcome = accepts(target.endpoint) ? await webPush.send(target, text) : { kind: 'gone' };
        return { target, outcome };
      }),
    );
    const targetsOf = (kind: PushOutcome['kind']) =>
      results.filter(({ outcome }) => outcome.kind === kind).map(({ target }) => target);
    await deleteGone(service, userId, targetsOf('gone'));
    const sent = targetsOf('sent');
    await recordSent(
      service,
      userId,
      sent.map(({ id }) => id),
      clock.now(),
    );
    const failed = results.flatMap(({ outcome }) => (outcome.kind === 'failed' ? [outcome] : []));
    // Threat: an endpoint is a capability URL (RFC 8030), so the log names none.
    if (failed.length > 0)
      log.warn({ user: userId, reasons: failed.map(({ reason }) => reason) }, 'a push service did not take a reminder');
    const waits = results.flatMap(({ outcome }) => (outcome.kind === 'busy' ? [outcome.retryAfterMs] : []));
    const shown = sent.length + failed.filter(({ mayHaveArrived }) => mayHaveArrived).length;
    return { shown, retryAfterMs: shown === 0 && waits.length > 0 ? Math.min(...waits) : null };
  }

  return { publicKey: webPush.publicKey, accepts, remind };
}

/** Push services refuse a contact that is neither `mailto:` nor https. */
function contactOf({ publicUrl, contact: { supportEmail } }: Deps['config']): string {
  if (supportEmail !== undefined) return `mailto:${supportEmail}`;
  return publicUrl.startsWith('https:') ? publicUrl : `mailto:support@${new URL(publicUrl).hostname}`;
}

const MAX_BODY_BYTES = 8 * 1024;

type RenewDeps = { push: Push; database: Database; limiters: Limiters };

const RENEWALS = { maxRunning: 2, maxPerClient: 1, maxQueued: 100, maxQueuedPerClient: 10 };

/**
 * `POST /push/renew` {token, subscription}: the service worker got another subscription in place of its own. It has no
 * session, so a token of the device stands for it, which this browser alone has.
 *
 * Threat: a stranger guesses a token. It has 128 random bits, and all guesses wait in one small queue.
 */
export function renewRoute({ push, database, limiters }: RenewDeps): Hono<AppEnv> {
  const limiter = limiters.createLimiter('push_renewals', RENEWALS);
  const routes = new Hono<AppEnv>();
  routes.post('/renew', limitBody(MAX_BODY_BYTES), async (context) => {
    const { token, subscription } = (parseJson(await readText(context)) ?? {}) as Record<string, unknown>;
    const target = readSubscription(subscription);
    if (target === null || typeof token !== 'string' || !push.accepts(target.endpoint))
      return context.json({ success: false }, 400);
    const service = database.asService('renew a push subscription');
    const isRenewed = await runLimited(limiter, () => renewSubscription(service, token, target));
    // On 410 the browser ends the new subscription: the device was removed.
    return context.json({ success: isRenewed }, isRenewed ? 200 : 410);
  });
  return routes;
}
