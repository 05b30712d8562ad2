/** Sends the evening reminders that are due (docs/specification/habit.md 2). */
import type { Day } from '#domain/day/day.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import { logLines } from '#domain/log/log-lines.ts';
import { promptOf } from '#domain/habit/prompts.ts';
import type { PushMessage } from '#domain/habit/push-message.ts';
import { reminderTime } from '#domain/habit/reminder-time.ts';
import { QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { dayPath, ROUTES } from '#domain/routes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { reminderMail } from '../mail/habit-emails.ts';
import type { MailMessage } from '../mail/email-template.ts';
import type { Mailer } from '../mail/mailer.ts';
import { createMailToken, signUnsubscription, type MailToken, type TokenPurpose } from './mail-tokens.ts';
import { RECIPIENTS, releaseMark, type Claim, type Recipient } from './reminder-schedule.ts';
import { deliverMarked, readByUser, sendDue, unsubscribePath, type Ready, type UserDay } from './send-due.ts';

/** The dependencies of the text of a reminder. */
export type ReminderWriter = {
  config: Pick<Config, 'publicUrl'>;
  clock: Clock;
  /** `deriveSecret('unsubscribe-links')` */
  unsubscribeSecret: Buffer;
  /** The address that a reply with this token goes to; null where no mail is received. */
  replyAddress: ((token: string) => string) | null;
};

/** Shows a reminder on all devices of a user. */
export type RemindOnDevices = (
  userId: string,
  message: PushMessage,
) => Promise<{
  /** Devices whose push service has taken the message, or may have. */
  shown: number;
  /** Set if certainly no device has got it and one may get it later. */
  retryAfterMs: number | null;
}>;

export type ReminderDeps = ReminderWriter & {
  database: Database;
  log: Logger;
  mailer: Pick<Mailer, 'deliverBulk' | 'isSetUp'>;
  /** Null where push messages are off. */
  push: { remind: RemindOnDevices } | null;
};

export type SendCounts = { mailed: number; pushed: number; planned: number; skipped: number; dropped: number };

/**
 * The question of a reminder; with prompts the one that the page of the day asks too (docs/specification/time-off.md
 * 3).
 */
export const questionOf = (day: Day, hasPrompts: boolean): string => (hasPrompts ? promptOf(day) : REMINDER_PROMPT);
/** Marks the quotation of the reminder in a reply (`inbound/reply-text.ts`). */
export const REMINDER_PROMPT = 'What did you get done today?';

/** @throws MailDeferred when some mails were deferred: they are tried again in some minutes */
export async function sendReminders(deps: ReminderDeps, signal: AbortSignal): Promise<SendCounts> {
  const service = deps.database.asService('send evening reminders');
  const counts: SendCounts = { mailed: 0, pushed: 0, planned: 0, skipped: 0, dropped: 0 };
  await sendDue<Context>(
    deps,
    {
      kind: 'reminder',
      service,
      isMarkedAhead: true,
      timeOf: reminderTime,
      tokensOf: ({ userId, preferences }) => {
        const purposes: TokenPurpose[] =
          preferences.remind_by_mail && deps.replyAddress !== null ? ['tap', 'reply'] : ['tap'];
        return purposes.map((purpose) => ({ token: createMailToken(userId), purpose }));
      },
      readContexts: (days, now) => readContexts(service, days, now),
      isWanted(context, preferences) {
        const { byMail, byPush } = channelsOf(deps, context, preferences);
        return !context.needsNone && (byMail || byPush);
      },
      sendOne: (claim, ready) => sendOne(deps, service, claim, ready, counts),
    },
    counts,
    signal,
  );
  return counts;
}

type LastLog = { day: Day; content: string } | null;

/** A mail shows only the first items of the last log, so only its beginning is read. */
const LAST_LOG_CHARS = 8_000;
/**
 * Runs as the service, so the statement itself checks which days the plan opens, as the policies of `entries` do. With
 * `exists` for the day's log, PostgreSQL may hash the logs of all users.
 */
const READ_CONTEXTS = `
  with recipients as (${RECIPIENTS})
  select recipients.*,
         coalesce((select true from public.entries where user_id = due.user_id and date = due.day and content_text <> ''), false)
           or exists (select from public.time_off where user_id = due.user_id and due.day between first_day and last_day) as "needsNone",
         exists (select from public.push_subscriptions where user_id = due.user_id) as "hasDevice",
         (select json_build_object('day', date, 'content', left(content, ${LAST_LOG_CHARS})) from public.entries
           where user_id = due.user_id and date < due.day and content_text <> ''
             and (date >= public.first_free_day() or recipients."isPremium")
           order by date desc limit 1) as last
    from recipients join unnest($1::uuid[], $3::date[]) as due (user_id, day) on due.user_id = recipients."userId"`;

/** `needsNone`: the day has words, or it is a day off. */
type Context = Recipient & { needsNone: boolean; hasDevice: boolean; last: LastLog };

const channelsOf = ({ mailer, push }: ReminderDeps, { email, hasDevice }: Context, preferences: Preferences) => ({
  byMail: preferences.remind_by_mail && mailer.isSetUp && email !== null,
  byPush: preferences.remind_by_push && push !== null && hasDevice,
});

/** Accounts that nothing may be sent to are left out. */
export const readContexts = (
  service: AsService,
  days: readonly UserDay[],
  now: Date,
): Promise<ReadonlyMap<string, Context>> => readByUser(service, READ_CONTEXTS, days, now);

/** False if the mail server has certainly not taken the mail. */
async function sendOne(
  deps: ReminderDeps,
  service: AsService,
  claim: Claim,
  { sending, context }: Ready<Context>,
  counts: SendCounts,
): Promise<boolean> {
  const { clock, log, push } = deps;
  const { row, tokens } = sending;
  const { byMail, byPush } = channelsOf(deps, context, row.preferences);
  const { prompts: hasPrompts } = row.preferences;
  const tap = tokens.find(({ purpose }) => purpose === 'tap')!.token;
  const reply = tokens.find(({ purpose }) => purpose === 'reply')?.token ?? null;
  let isPushed = false;
  if (byPush && push !== null) {
    const message = { day: row.day, prompt: questionOf(row.day, hasPrompts), tap: tap.text };
    const { shown, retryAfterMs } = await push.remind(row.userId, message).catch((error: unknown) => {
      log.warn({ err: error, user: row.userId }, 'a reminder was not pushed');
      // The push service may have taken it, so it is not sent again.
      return { shown: 1, retryAfterMs: null };
    });
    isPushed = shown > 0;
    if (isPushed) counts.pushed += 1;
    // Unlike a mail server that is down, a push service does not end the run: other devices have other push services.
    if (!byMail && retryAfterMs !== null) await releaseMark(service, claim.kind, sending, clock.now(), retryAfterMs);
  }
  if (!byMail) return true;
  // `channelsOf` allows mail only with an address.
  const recipient = { ...context, email: context.email! };
  const message = writeReminder(deps, { recipient, day: row.day, hasPrompts, last: context.last, tap, reply });
  const outcome = await deliverMarked(deps, service, claim, { sending, message, isShown: isPushed });
  if (outcome !== 'deferred') counts[outcome] += 1;
  return outcome !== 'deferred';
}

/** The mail shows this much of the last log. */
const MAX_ITEMS = 10;
const MAX_ITEM_CHARS = 200;

export function writeReminder(
  { config, clock, unsubscribeSecret, replyAddress }: ReminderWriter,
  {
    recipient,
    day,
    hasPrompts,
    last,
    tap,
    reply,
  }: {
    recipient: Recipient & { email: string };
    day: Day;
    hasPrompts: boolean;
    last: LastLog;
    tap: MailToken;
    reply: MailToken | null;
  },
): MailMessage {
  const { publicUrl } = config;
  const { userId } = recipient;
  const unsubscription = { userId, kind: 'reminder' as const, sentAt: clock.now() };
  return reminderMail({
    to: recipient.email,
    day,
    prompt: questionOf(day, hasPrompts),
    writeLink: publicUrl + dayPath(day),
    taps: QUICK_ENTRIES.map(({ text }, index) => ({ label: text, link: `${publicUrl}${tapPath(tap.text, index)}` })),
    last: last && { day: last.day, ...readItems(last.content) },
    replyTo: reply && replyAddress ? replyAddress(reply.text) : null,
    settingsLink: publicUrl + ROUTES.settings.path,
    unsubscribeLink: publicUrl + unsubscribePath(signUnsubscription(unsubscription, unsubscribeSecret)),
  });
}

const tapPath = (token: string, entry: number): string => `/evening/${token}?entry=${entry}`;

function readItems(content: string): { items: string[]; more: number } {
  const texts = logLines(content.replace(/<[^<>]*$/, ''))
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
  const items = texts.slice(0, MAX_ITEMS).map(truncate);
  return { items, more: texts.length - items.length };
}

const truncate = (text: string): string =>
  text.length <= MAX_ITEM_CHARS ? text : `${text.slice(0, MAX_ITEM_CHARS).toWellFormed().trimEnd()}…`;
