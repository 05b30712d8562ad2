/**
 * `send-reminder` {}: sends the caller the reminder of today at once, by mail and to the devices, as an example. Changes
 * nothing of the schedule.
 *
 * Threat: a stolen session floods the owner's mailbox. The mail goes to the proven address of the account alone, three times
 * an hour.
 */
import type { Context } from 'hono';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { currentDay, type DayEnd } from '#domain/day/current-day.ts';
import type { SentReminder } from '#domain/habit/push-message.ts';
import { isTimeZone } from '#domain/habit/preferences.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { rateLimitStore } from '../http/rate-limit-store.ts';
import { MailDeferred, MailRejected, type Mailer } from '../mail/mailer.ts';
import { createMailToken, storeMailTokens } from '../habit/mail-tokens.ts';
import type { Push } from '../push/push.ts';
import { FunctionError } from './wire.ts';
import { questionOf, readContexts, writeReminder, type ReminderWriter } from '../habit/send-reminders.ts';

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
