/**
 * `send-reminder` {}: sends the caller the reminder of today at once as an example, by mail, to the devices, or both.
 * Changes nothing of the schedule.
 *
 * Threat: a stolen session floods the owner's mailbox. The mail goes only to the proven address of the account, at most
 * three times an hour.
 */
import type { Context } from 'hono';
import { currentDay, type DayEnd } from '#domain/day/current-day.ts';
import { MAX_PUSH_DEVICES, type SentReminder, type PushDevice } from '#domain/habit/push-message.ts';
import { isTimeZone } from '#domain/habit/preferences.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { RateLimiterPostgres, RateLimiterRes, rateLimitStore } from '../http/rate-limit-store.ts';
import { MailDeferred, MailRejected, type Mailer } from '../mail/mailer.ts';
import { createMailToken, storeMailTokens } from '../habit/mail-tokens.ts';
import type { Push } from '../push/push.ts';
import { FunctionError, readBody } from './function-request.ts';
import { questionOf, readContexts, writeReminder, type ReminderWriter } from '../habit/send-reminders.ts';
import pg from 'pg';
import { deviceOf, describeDevice } from '../auth/http/device.ts';
import type { AuthDeps } from '../auth/http/auth-deps.ts';
import { readSubscription, storeSubscription } from '../push/subscriptions.ts';

const MAX_PER_HOUR = 3;

export type SendNowDeps = ReminderWriter & {
  config: { auth: { rateLimits: boolean } };
  database: Database;
  mailer: Pick<Mailer, 'deliver' | 'isSetUp'>;
  push: Pick<Push, 'remind'> | null;
};

export function sendReminderNow(deps: SendNowDeps) {
  const { database, clock, mailer, push, replyAddress } = deps;
  const limiter = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'reminder-now',
    points: MAX_PER_HOUR,
    duration: 3_600,
  });

  async function waitSeconds(userId: string): Promise<number> {
    if (!deps.config.auth.rateLimits) return 0;
    try {
      await limiter.consume(userId);
      return 0;
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      return Math.ceil(rejection.msBeforeNext / 1_000);
    }
  }

  return async function sendNow(context: Context<AppEnv>, { userId }: SignedInCaller): Promise<Response> {
    const service = database.asService('send a reminder at once');
    const now = clock.now();
    const { rows } = await service.statement<{
      timeZone: string | null;
      dayEndsAt: DayEnd;
      hasPrompts: boolean;
      byMail: boolean;
    }>(
      'select time_zone as "timeZone", day_ends_at as "dayEndsAt", prompts as "hasPrompts", remind_by_mail as "byMail" from public.preferences where user_id = $1',
      [userId],
    );
    const { timeZone = null, dayEndsAt = 0, hasPrompts = false, byMail = false } = rows[0] ?? {};
    const day = currentDay(now, timeZone !== null && isTimeZone(timeZone) ? timeZone : null, dayEndsAt);
    const recipient = (await readContexts(service, [{ userId, day }], now)).get(userId);
    const isPushed = push !== null && recipient?.hasDevice === true;
    // A user who chose devices alone gets no mail.
    const email = mailer.isSetUp && (byMail || !isPushed) ? (recipient?.email ?? null) : null;
    if (!recipient || (email === null && !isPushed))
      throw mailer.isSetUp
        ? new FunctionError(403, 'Confirm your email address in your profile first.')
        : new FunctionError(503, 'This server sends no mail.');
    const retryAfterSeconds = await waitSeconds(userId);
    if (retryAfterSeconds > 0) {
      throw new FunctionError(429, `You can get ${MAX_PER_HOUR} in an hour. Please try again later.`, {
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    }
    const tap = createMailToken(userId);
    const reply = email === null || replyAddress === null ? null : createMailToken(userId);
    await storeMailTokens(service, {
      day,
      now,
      tokens: [{ token: tap, purpose: 'tap' }, ...(reply ? [{ token: reply, purpose: 'reply' as const }] : [])],
    });
    const message = { day, prompt: questionOf(day, hasPrompts), tap: tap.text };
    const devices = isPushed ? (await push.remind(userId, message)).shown : 0;
    if (email === null && devices === 0)
      throw new FunctionError(503, 'The notification could not be sent. Please try again later.');
    try {
      if (email !== null) {
        const { last } = recipient;
        await mailer.deliver(
          writeReminder(deps, { recipient: { ...recipient, email }, day, hasPrompts, last, tap, reply }),
        );
      }
    } catch (error) {
      if (!(error instanceof MailDeferred || error instanceof MailRejected)) throw error;
      throw new FunctionError(503, 'The mail could not be sent. Please try again later.');
    }
    return context.json({ success: true, email, devices } satisfies SentReminder & { success: true });
  };
}

type Deps = { database: Database; auth: AuthDeps; push: Push | null };

/**
 * `push-subscription` {subscription}: this browser shows the caller's reminders until its session ends or the device is
 * removed (docs/specification/habit.md 6). Without a subscription the answer has the key that a browser subscribes
 * with.
 */
export function storePushSubscription({ database, auth, push }: Deps) {
  return async function subscribe(context: Context<AppEnv>, caller: SignedInCaller): Promise<Response> {
    if (push === null) throw new FunctionError(503, 'This server sends no notifications.');
    const { subscription } = await readBody(context);
    if (subscription === undefined) return context.json({ success: true, publicKey: await push.publicKey() });
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
