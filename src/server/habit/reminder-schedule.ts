/**
 * The rows of `reminder_schedule` as a queue that many processes share. A process claims a batch for a short time,
 * plans or skips what needs no mail in one statement, and marks rows as sent right before their mails leave.
 *
 * At most once: a process that dies between the mark and the mail loses that mail, and never sends a second one. Rows
 * that it has only claimed are free again when the lease ends.
 */
import { randomUUID } from 'node:crypto';
import type { Day } from '#domain/day/day.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import type { Due } from '#domain/habit/reminder-time.ts';
import type { AsService } from '../database/database.ts';
import { TOKEN_LIFE_MS, type DueKind, type MailToken, type TokenPurpose } from './mail-tokens.ts';

/** Rows of one claim. One statement reads the data of all its mails, and one plans the rows that need none. */
const CLAIM_ROWS = 200;
/**
 * After this time another process may claim the rows. Meant to be longer than a batch takes with a slow mail server.
 */
const LEASE_MS = 5 * 60_000;
/** How long a mail that the mail server has not taken waits at least for its next attempt. */
const RETRY_MS = 5 * 60_000;

export type ClaimedRow = {
  userId: string;
  dueAt: Date;
  /** Null: not planned yet. `dueAt` is then the time of the change that requires a new plan. */
  day: Day | null;
  sentDay: Day | null;
  preferences: Preferences;
};

export type Claim = { kind: DueKind; lease: string; rows: ClaimedRow[] };

const CLAIM = `
  with due as (
    select user_id, kind from public.reminder_schedule
     where due_at <= $1 and kind = $2 and (leased_until is null or leased_until <= $1)
     order by due_at limit $5 for update skip locked),
  claimed as (
    update public.reminder_schedule as row set lease = $3, leased_until = $4
      from due where row.user_id = due.user_id and row.kind = due.kind
    returning row.user_id, row.due_at, row.day, row.sent_day)
  select claimed.user_id as "userId", claimed.due_at as "dueAt", claimed.day::text, claimed.sent_day::text as "sentDay",
         to_json(preferences) as preferences
    from claimed join public.preferences on preferences.user_id = claimed.user_id`;

export async function claimDue(service: AsService, kind: DueKind, now: Date, rows = CLAIM_ROWS): Promise<Claim> {
  const lease = randomUUID();
  const claimed = await service.statement<ClaimedRow>(CLAIM, [
    now,
    kind,
    lease,
    new Date(now.getTime() + LEASE_MS),
    rows,
  ]);
  return { kind, lease, rows: claimed.rows };
}

const PLAN = `
  update public.reminder_schedule as row
     set due_at = next.due_at, day = next.day, lease = null, leased_until = null
    from unnest($3::uuid[], $4::timestamptz[], $5::date[]) as next (user_id, due_at, day)
   where row.user_id = any($3::uuid[]) and row.user_id = next.user_id and row.kind = $1 and row.lease = $2`;

/** Sets the next time of claimed rows for which nothing is sent; null turns a row off. */
export async function planNext(
  service: AsService,
  { kind, lease }: Claim,
  next: readonly { userId: string; due: Due | null }[],
): Promise<void> {
  if (next.length === 0) return;
  await service.statement(PLAN, [
    kind,
    lease,
    next.map(({ userId }) => userId),
    next.map(({ due }) => due?.at ?? 'infinity'),
    next.map(({ due }) => due?.day ?? null),
  ]);
}

export type Sending = {
  row: ClaimedRow & { day: Day };
  next: Due | null;
  tokens: readonly { token: MailToken; purpose: TokenPurpose }[];
};

/**
 * Skips a row whose lease was lost, whose preferences have changed, whose day was sent, or, of a reminder, whose day
 * has words by now or has become a day off.
 */
const MARK = `
  with wanted as (
    select * from unnest($3::uuid[], $4::date[], $5::timestamptz[], $6::date[]) as wanted (user_id, day, next_at, next_day)),
  marked as (
    update public.reminder_schedule as row
       set sent_day = wanted.day, due_at = wanted.next_at, day = wanted.next_day, lease = null, leased_until = null
      from wanted
     where row.user_id = any($3::uuid[]) and row.user_id = wanted.user_id and row.kind = $1 and row.lease = $2
       and row.sent_day is distinct from wanted.day
       and ($1 <> 'reminder' or not exists (
         select from public.entries where user_id = wanted.user_id and date = wanted.day and content_text <> ''
         union all
         select from public.time_off where user_id = wanted.user_id and wanted.day between first_day and last_day))
    returning row.user_id, wanted.day),
  stored as (
    insert into public.mail_tokens (user_id, token_hash, purpose, day, expires_at)
    select marked.user_id, token.hash, token.purpose, marked.day, $10
      from marked join unnest($7::uuid[], $8::bytea[], $9::text[]) as token (user_id, hash, purpose) using (user_id))
  select user_id as "userId" from marked`;

/** Returns the items whose mail may leave now, and stores their tokens. */
export async function markSent<Item extends { sending: Sending }>(
  service: AsService,
  { kind, lease }: Claim,
  items: readonly Item[],
  now: Date,
): Promise<Item[]> {
  const sendings = items.map(({ sending }) => sending);
  const tokens = sendings.flatMap((sending) => sending.tokens);
  const { rows } = await service.statement<{ userId: string }>(MARK, [
    kind,
    lease,
    sendings.map(({ row }) => row.userId),
    sendings.map(({ row }) => row.day),
    sendings.map(({ next }) => next?.at ?? 'infinity'),
    sendings.map(({ next }) => next?.day ?? null),
    tokens.map(({ token }) => token.userId),
    tokens.map(({ token }) => token.hash),
    tokens.map(({ purpose }) => purpose),
    new Date(now.getTime() + TOKEN_LIFE_MS),
  ]);
  const marked = new Set(rows.map(({ userId }) => userId));
  return items.filter(({ sending }) => marked.has(sending.row.userId));
}

/** Takes back what `MARK` wrote to the row, unless it has been planned again meanwhile. */
const RELEASE = `
  update public.reminder_schedule set sent_day = $3, due_at = $4, day = $5, leased_until = $6
   where user_id = $1 and kind = $2 and sent_day = $5::date and due_at = $7 and lease is null`;

/**
 * For a mail or notification that has certainly not arrived. It is tried again in some minutes, until it is too late
 * for its day.
 */
export async function releaseMark(
  service: AsService,
  kind: DueKind,
  { row, next }: Sending,
  now: Date,
  waitMs = 0,
): Promise<void> {
  const retryAt = new Date(now.getTime() + Math.max(RETRY_MS, waitMs));
  await service.statement(RELEASE, [
    row.userId,
    kind,
    row.sentDay,
    row.dueAt,
    row.day,
    retryAt,
    next?.at ?? 'infinity',
  ]);
}

/** The user that a mail goes to. `email` is null without a proven address: then no mail is sent. */
export type Recipient = { userId: string; email: string | null; isPremium: boolean; hasConsent: boolean };

/** The accounts that are reminded: neither banned nor about to be deleted. */
export const RECIPIENTS = `
  select users.id as "userId", case when email_confirmed_at is not null then email end as email,
         coalesce(subscription_plan = 'premium' and (access_valid_until is null or access_valid_until >= public.earliest_today()), false) as "isPremium",
         coalesce(ai_consent, false) as "hasConsent"
    from unnest($1::uuid[]) as asked (user_id)
         join auth.users on users.id = asked.user_id
         left join public.profiles on profiles.id = asked.user_id
   where deleted_at is null and deletion_due_at is null
     and (banned_until is null or banned_until <= $2)`;
