/** Sends the evening reminders that are due (docs/specification/habit.md 2). */
import type { Day } from '#domain/day/day.ts';
import { logLines } from '#domain/export/log-lines.ts';
import {
  isTimely,
  MAX_LATE_MS,
  nextDue,
  reminderTime,
  type Due,
  type WeeklyTime,
} from '#domain/habit/reminder-time.ts';
import { QUICK_ENTRIES } from '#domain/log/quick-entries.ts';
import { dayPath, ROUTES } from '#domain/routes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import { reminderMail } from '../mail/habit-emails.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred, MailRejected, MAX_BULK_CONNECTIONS, type Mailer } from '../mail/mailer.ts';
import { createMailToken, signUnsubscription, type MailToken } from './mail-tokens.ts';
import {
  claimDue,
  markSent,
  planNext,
  RECIPIENTS,
  releaseMark,
  type Claim,
  type ClaimedRow,
  type Recipient,
  type Sending,
} from './reminder-schedule.ts';

/** What the text of a reminder needs. */
export type ReminderWriter = {
  config: Pick<Config, 'publicUrl'>;
  clock: Clock;
  /** `deriveSecret('unsubscribe-links')` */
  unsubscribeSecret: Buffer;
  /** The address that a reply with this token goes to; null where no mail is received. */
  replyAddress: ((token: string) => string) | null;
};

export type ReminderDeps = ReminderWriter & {
  database: Database;
  log: Logger;
  mailer: Pick<Mailer, 'deliverBulk'>;
  /** Shows a reminder on the user's devices; null where push messages are not set up. */
  push: ((reminder: { userId: string; day: Day; prompt: string; tapToken: string }) => Promise<void>) | null;
};

export type SendCounts = { mailed: number; pushed: number; planned: number; skipped: number; dropped: number };

const PROMPT = 'What did you get done today?';

/** A run ends before the queue takes it for a hanging one; the next run continues. */
const MAX_RUN_MS = 8 * 60_000;
/** After so many mails that the mail server has not taken, it is considered down and the run ends. */
const MAX_DEFERRED_PER_RUN = 3;

/** @throws MailDeferred when some mails were deferred: they are tried again in some minutes */
export async function sendReminders(deps: ReminderDeps, signal: AbortSignal): Promise<SendCounts> {
  const { database, clock } = deps;
  const service = database.asService('send evening reminders');
  const counts: SendCounts = { mailed: 0, pushed: 0, planned: 0, skipped: 0, dropped: 0 };
  const endsAt = clock.now().getTime() + MAX_RUN_MS;
  let deferred = 0;
  while (!signal.aborted && deferred < MAX_DEFERRED_PER_RUN && clock.now().getTime() < endsAt) {
    const claim = await claimDue(service, 'reminder', clock.now());
    if (claim.rows.length === 0) break;
    const sendings = await sortClaimed(deps, service, claim, counts);
    await inParallel(MAX_BULK_CONNECTIONS, sendings, async ({ sending, recipient, last }) => {
      // What is left keeps its lease, and another run sends it.
      if (signal.aborted || deferred >= MAX_DEFERRED_PER_RUN) return;
      if (!(await sendOne(deps, service, claim, { sending, recipient, last }, counts))) deferred += 1;
    });
  }
  if (deferred > 0) throw new MailDeferred(`${deferred} reminders were deferred`);
  return counts;
}

type LastLog = { day: Day; content: string } | null;
type ReadySending = { sending: Sending; recipient: Recipient; last: LastLog };

/** Plans and skips the rows for which nothing is sent, and returns the others. */
async function sortClaimed(
  { clock, log, push }: ReminderDeps,
  service: AsService,
  claim: Claim,
  counts: SendCounts,
): Promise<ReadySending[]> {
  const now = clock.now();
  const later: { userId: string; due: Due | null }[] = [];
  const timely: Sending[] = [];
  for (const row of claim.rows) {
    const next = findNext(reminderTime(row.preferences), row, now, log);
    const isSent =
      row.day !== null && isTimely({ at: row.dueAt, day: row.day }, now, row.preferences.time_zone ?? 'UTC');
    const hasChannel = row.preferences.remind_by_mail || (row.preferences.remind_by_push && push !== null);
    if (isSent && hasChannel && next !== 'unknown') {
      const token = createMailToken(row.userId);
      timely.push({ row: { ...row, day: row.day! }, next, tokens: [{ token, purpose: 'tap' }] });
      continue;
    }
    if (row.day === null) counts.planned += 1;
    else counts.skipped += 1;
    later.push({ userId: row.userId, due: next === 'unknown' ? null : next });
  }
  const contexts = await readContexts(
    service,
    timely.map(({ row }) => row),
    now,
  );
  const ready: ReadySending[] = [];
  for (const sending of timely) {
    const { userId } = sending.row;
    const context = contexts.get(userId);
    if (context && !context.needsNone) {
      ready.push({ sending, recipient: context, last: context.last });
      continue;
    }
    counts.skipped += 1;
    later.push({ userId, due: sending.next });
  }
  await planNext(service, claim, later);
  return ready;
}

/** `unknown` for a time zone that this machine does not know. Null: it is off. */
export function findNext(time: WeeklyTime | null, row: ClaimedRow, now: Date, log: Logger): Due | null | 'unknown' {
  if (time === null) return null;
  try {
    // A new plan begins at the change that made it, so that no time is missed before this run.
    if (row.day === null) return nextDue(time, row.dueAt, row.sentDay);
    // After a time without a server, a later day may still be due within the last two hours.
    return nextDue(time, new Date(Math.max(row.dueAt.getTime() + 1, now.getTime() - MAX_LATE_MS)), row.day);
  } catch {
    log.warn({ user: row.userId }, 'a reminder has an unknown time zone');
    return 'unknown';
  }
}

/** Reads no more of the last log than a mail shows. */
const LAST_LOG_CHARS = 8_000;
/** As the service: the plan decides which days are open, as in the policies of `entries`. */
const READ_CONTEXTS = `
  with recipients as (${RECIPIENTS})
  select recipients.*,
         exists (select from public.entries where user_id = due.user_id and date = due.day and content_text <> '')
           or exists (select from public.time_off where user_id = due.user_id and due.day between first_day and last_day) as "needsNone",
         (select json_build_object('day', date, 'content', left(content, ${LAST_LOG_CHARS})) from public.entries
           where user_id = due.user_id and date < due.day and content_text <> ''
             and (date >= public.first_free_day() or recipients."isPremium")
           order by date desc limit 1) as last
    from recipients join unnest($1::uuid[], $3::date[]) as due (user_id, day) on due.user_id = recipients."userId"`;

/** `needsNone`: the day has words, or it is a day off. */
type Context = Recipient & { needsNone: boolean; last: LastLog };

/** Accounts that mail may not go to are left out. */
export async function readContexts(
  service: AsService,
  days: readonly { userId: string; day: Day }[],
  now: Date,
): Promise<ReadonlyMap<string, Context>> {
  if (days.length === 0) return new Map();
  const { rows } = await service.statement<Context>(READ_CONTEXTS, [
    days.map(({ userId }) => userId),
    now,
    days.map(({ day }) => day),
  ]);
  return new Map(rows.map((context) => [context.userId, context]));
}

/** False if the mail server has certainly not taken the mail. */
async function sendOne(
  deps: ReminderDeps,
  service: AsService,
  claim: Claim,
  { sending: planned, recipient, last }: ReadySending,
  counts: SendCounts,
): Promise<boolean> {
  const { clock, log, mailer, push, replyAddress } = deps;
  const { row } = planned;
  const { remind_by_mail: byMail, remind_by_push: byPush } = row.preferences;
  const tap = planned.tokens[0]!.token;
  const reply = byMail && replyAddress !== null ? createMailToken(row.userId) : null;
  const sending: Sending = reply
    ? { ...planned, tokens: [...planned.tokens, { token: reply, purpose: 'reply' }] }
    : planned;
  if (!(await markSent(service, claim, sending, clock.now()))) {
    counts.skipped += 1;
    return true;
  }
  let isPushed = false;
  if (byPush && push !== null) {
    isPushed = await push({
      userId: row.userId,
      day: row.day,
      prompt: PROMPT,
      tapToken: tap.text,
    }).then(
      () => true,
      (error: unknown) => (log.warn({ err: error, user: row.userId }, 'a reminder was not pushed'), false),
    );
    if (isPushed) counts.pushed += 1;
  }
  if (!byMail) return true;
  try {
    await mailer.deliverBulk(writeReminder(deps, { recipient, day: row.day, last, tap, reply }));
    counts.mailed += 1;
    return true;
  } catch (error) {
    if (!(error instanceof MailDeferred || error instanceof MailRejected)) throw error;
    if (error instanceof MailRejected || error.mayHaveArrived || isPushed) {
      log.warn({ user: row.userId }, 'a reminder was dropped');
      counts.dropped += 1;
      return true;
    }
    await releaseMark(service, 'reminder', sending, clock.now());
    return false;
  }
}

/** The mail shows this much of the last log. */
const MAX_ITEMS = 10;
const MAX_ITEM_CHARS = 200;

export function writeReminder(
  { config, clock, unsubscribeSecret, replyAddress }: ReminderWriter,
  {
    recipient,
    day,
    last,
    tap,
    reply,
  }: { recipient: Recipient; day: Day; last: LastLog; tap: MailToken; reply: MailToken | null },
): MailMessage {
  const { publicUrl } = config;
  const { userId, email } = recipient;
  const unsubscription = { userId, kind: 'reminder' as const, sentAt: clock.now() };
  return reminderMail({
    to: email,
    day,
    prompt: PROMPT,
    writeLink: publicUrl + dayPath(day),
    taps: QUICK_ENTRIES.map(({ text }, index) => ({ label: text, link: `${publicUrl}${tapPath(tap.text, index)}` })),
    last: last && { day: last.day, ...readItems(last.content) },
    replyTo: reply && replyAddress ? replyAddress(reply.text) : null,
    settingsLink: publicUrl + ROUTES.settings.path,
    unsubscribeLink: publicUrl + unsubscribePath(signUnsubscription(unsubscription, unsubscribeSecret)),
  });
}

const tapPath = (token: string, entry: number): string => `/evening/${token}?entry=${entry}`;
export const unsubscribePath = (token: string): string => `/unsubscribe/${token}`;

function readItems(content: string): { items: string[]; more: number } {
  const texts = logLines(content.replace(/<[^<>]*$/, ''))
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
  const items = texts.slice(0, MAX_ITEMS).map(truncate);
  return { items, more: texts.length - items.length };
}

const truncate = (text: string): string =>
  text.length <= MAX_ITEM_CHARS ? text : `${text.slice(0, MAX_ITEM_CHARS).toWellFormed().trimEnd()}…`;

/** Runs the work of all items, at most `limit` at a time. Rejects with the first error once the running work has ended. */
export async function inParallel<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const runLeft = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: limit }, runLeft));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
