/**
 * The rows of `reminder_schedule` as a queue that many processes share. A process claims a batch for a short time, plans or
 * skips what needs no mail in one statement, and marks each row as sent right before its mail leaves.
 *
 * At most once: a process that dies between the mark and the mail loses that one mail, and never sends a second one. Rows
 * that it has only claimed are free again when the lease ends.
 */
import { randomUUID } from 'node:crypto';
import type { Day } from '#domain/day/day.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import type { Due } from '#domain/habit/reminder-time.ts';
import type { AsService } from '../database/database.ts';
import { TOKEN_LIFE_MS, type DueKind, type MailToken, type TokenPurpose } from './mail-tokens.ts';

/** Rows of one claim. Its reads and its plan are a statement each, so that an hour with 100,000 mails takes a thousand. */
const CLAIM_ROWS = 200;
/** Longer than a batch takes with a slow mail server; afterwards another process takes the rest. */
const LEASE_MS = 5 * 60_000;
/** How long a mail that the mail server has not taken waits for its next attempt. */
const RETRY_MS = 5 * 60_000;

export type ClaimedRow = {
  userId: string;
  dueAt: Date;
  /** Null: not planned yet. `dueAt` is then the time of the change that made it so. */
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
 * No-op if the lease was lost, the preferences have changed, the day was sent, or, for a reminder, has words by now or has
 * become a day off.
 */
const MARK = `
  with marked as (
    update public.reminder_schedule
       set sent_day = $4, due_at = $5, day = $6, lease = null, leased_until = null
     where user_id = $1 and kind = $2 and lease = $3 and sent_day is distinct from $4::date
       and ($2 <> 'reminder' or not exists (
         select from public.entries where user_id = $1 and date = $4::date and content_text <> ''
         union all
         select from public.time_off where user_id = $1 and $4::date between first_day and last_day))
    returning user_id),
  stored as (
    insert into public.mail_tokens (user_id, token_hash, purpose, day, expires_at)
    select marked.user_id, token.hash, token.purpose, $4::date, $9
      from marked, unnest($7::bytea[], $8::text[]) as token (hash, purpose))
  select from marked`;

/** Whether the mail may leave now. Stores its tokens. */
export async function markSent(
  service: AsService,
  { kind, lease }: Claim,
  { row, next, tokens }: Sending,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await service.statement(MARK, [
    row.userId,
    kind,
    lease,
    row.day,
    next?.at ?? 'infinity',
    next?.day ?? null,
    tokens.map(({ token }) => token.hash),
    tokens.map(({ purpose }) => purpose),
    new Date(now.getTime() + TOKEN_LIFE_MS),
  ]);
  return rowCount === 1;
}

/** Undoes a mark, unless the row has been planned again meanwhile. */
const RELEASE = `
  update public.reminder_schedule set sent_day = $3, due_at = $4, day = $5, leased_until = $6
   where user_id = $1 and kind = $2 and sent_day = $5::date and due_at = $7 and lease is null`;

/** For a mail that has certainly not arrived: it is tried again in some minutes, and as late as any. */
export async function releaseMark(service: AsService, kind: DueKind, { row, next }: Sending, now: Date): Promise<void> {
  const retryAt = new Date(now.getTime() + RETRY_MS);
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

/** What a mail to a user needs to know. */
export type Recipient = { userId: string; email: string; isPremium: boolean; hasConsent: boolean };

/** The accounts that mail may go to: with a proven address, and neither banned nor about to be deleted. */
export const RECIPIENTS = `
  select users.id as "userId", email,
         coalesce(subscription_plan = 'premium' and (access_valid_until is null or access_valid_until >= public.earliest_today()), false) as "isPremium",
         coalesce(ai_consent, false) as "hasConsent"
    from unnest($1::uuid[]) as asked (user_id)
         join auth.users on users.id = asked.user_id
         left join public.profiles on profiles.id = asked.user_id
   where email is not null and email_confirmed_at is not null and deleted_at is null and deletion_due_at is null
     and (banned_until is null or banned_until <= $2)`;
