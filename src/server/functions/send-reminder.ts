/**
 * `send-reminder` {}: mails the caller the reminder of today at once, so that one sees what the evening brings before the
 * evening. Changes nothing of the schedule.
 *
 * Threat: a stolen session floods the owner's mailbox. The mail goes to the proven address of the account alone, three times
 * an hour.
 */
import type { Context } from 'hono';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { currentDay, type DayEnd } from '#domain/day/current-day.ts';
import { isTimeZone } from '#domain/habit/preferences.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { rateLimitStore } from '../http/rate-limit-store.ts';
import { MailDeferred, MailRejected, type Mailer } from '../mail/mailer.ts';
import { createMailToken, storeMailTokens } from '../habit/mail-tokens.ts';
import { FunctionError } from './wire.ts';
import { readContexts, writeReminder, type ReminderWriter } from '../habit/send-reminders.ts';

const MAX_PER_HOUR = 3;

export type SendNowDeps = ReminderWriter & {
  config: { auth: { rateLimits: boolean } };
  database: Database;
  mailer: Pick<Mailer, 'deliver' | 'isSetUp'>;
};

export function sendReminderNow(deps: SendNowDeps) {
  const { database, clock, mailer, replyAddress } = deps;
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
    if (!mailer.isSetUp) throw new FunctionError(503, 'This server sends no mail.');
    const service = database.asService('send a reminder at once');
    const now = clock.now();
    const { rows } = await service.statement<{ timeZone: string | null; dayEndsAt: DayEnd; hasPrompts: boolean }>(
      'select time_zone as "timeZone", day_ends_at as "dayEndsAt", prompts as "hasPrompts" from public.preferences where user_id = $1',
      [userId],
    );
    const { timeZone = null, dayEndsAt = 0, hasPrompts = false } = rows[0] ?? {};
    const day = currentDay(now, timeZone !== null && isTimeZone(timeZone) ? timeZone : null, dayEndsAt);
    const recipient = (await readContexts(service, [{ userId, day }], now)).get(userId);
    if (!recipient) throw new FunctionError(403, 'Confirm your email address in your profile first.');
    const retryAfterSeconds = await waitSeconds(userId);
    if (retryAfterSeconds > 0) {
      throw new FunctionError(429, `You can get ${MAX_PER_HOUR} in an hour. Please try again later.`, {
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    }
    const tap = createMailToken(userId);
    const reply = replyAddress === null ? null : createMailToken(userId);
    await storeMailTokens(service, {
      day,
      now,
      tokens: [{ token: tap, purpose: 'tap' }, ...(reply ? [{ token: reply, purpose: 'reply' as const }] : [])],
    });
    try {
      await mailer.deliver(writeReminder(deps, { recipient, day, hasPrompts, last: recipient.last, tap, reply }));
    } catch (error) {
      if (!(error instanceof MailDeferred || error instanceof MailRejected)) throw error;
      throw new FunctionError(503, 'The mail could not be sent. Please try again later.');
    }
    return context.json({ success: true });
  };
}
