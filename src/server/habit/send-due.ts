/**
 * A run of the job that mails what is due in `reminder_schedule`: it claims rows, plans those for which nothing is
 * sent, and hands the others over. `send-reminders.ts` and `send-digests.ts` write the mails.
 */
import type { Day } from '#domain/day/day.ts';
import type { Preferences } from '#domain/habit/preferences.ts';
import { isTimely, MAX_LATE_MS, nextDue, type Due, type WeeklyTime } from '#domain/habit/reminder-time.ts';
import type { Clock } from '../clock.ts';
import type { AsService, Database } from '../database/database.ts';
import type { Logger } from '../log.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { MailDeferred, MailRejected, MAX_BULK_CONNECTIONS, type Mailer } from '../mail/mailer.ts';
import type { DueKind } from './mail-tokens.ts';
import {
  claimDue,
  markSent,
  planNext,
  releaseMark,
  type Claim,
  type ClaimedRow,
  type Recipient,
  type Sending,
} from './reminder-schedule.ts';

/** A run ends before the queue takes it for a hanging one; the next run continues. */
const MAX_RUN_MS = 8 * 60_000;
/** After this many mails that the mail server did not take, it counts as down and the run ends. */
const MAX_DEFERRED_PER_RUN = 3;

type RunDeps = { database: Database; clock: Clock; log: Logger };
type RunCounts = { planned: number; skipped: number };

/** A mail to send, with the data that was read for its text. */
export type Ready<Context> = { sending: Sending; context: Context };

/** How a run sends one kind of mail. */
type DueMail<Context> = {
  kind: DueKind;
  service: AsService;
  /** The maximum number of rows per claim. */
  claimRows?: number;
  /** Whether rows are marked as sent before `sendOne`, several at a time. Otherwise it marks its row itself. */
  isMarkedAhead: boolean;
  timeOf: (preferences: Preferences) => WeeklyTime | null;
  /** Tokens that the mark stores; null for a row that has no way to be sent. */
  tokensOf: (row: ClaimedRow) => Sending['tokens'] | null;
  /** Returns a context for each user id. Leaves out accounts that nothing may be sent to. */
  readContexts: (days: readonly UserDay[], now: Date) => Promise<ReadonlyMap<string, Context>>;
  isWanted: (context: Context, preferences: Preferences) => boolean;
  /** False if the mail server has certainly not taken the mail. */
  sendOne: (claim: Claim, ready: Ready<Context>) => Promise<boolean>;
};

/** @throws MailDeferred when some mails were deferred: they are tried again in some minutes */
export async function sendDue<Context>(
  deps: RunDeps,
  mail: DueMail<Context>,
  counts: RunCounts,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = deps;
  const endsAt = clock.now().getTime() + MAX_RUN_MS;
  let deferred = 0;
  while (!signal.aborted && deferred < MAX_DEFERRED_PER_RUN && clock.now().getTime() < endsAt) {
    const claim = await claimDue(mail.service, mail.kind, clock.now(), mail.claimRows);
    if (claim.rows.length === 0) break;
    const ready = await sortClaimed(deps, mail, claim, counts);
    // The remaining rows keep their lease. Another run sends them.
    const canContinue = (): boolean => !signal.aborted && deferred < MAX_DEFERRED_PER_RUN;
    await inParallel(
      MAX_BULK_CONNECTIONS,
      takeReady(deps, mail, { claim, ready, canContinue }, counts),
      async (one) => {
        if (!(await mail.sendOne(claim, one))) deferred += 1;
      },
    );
  }
  if (deferred > 0) throw new MailDeferred(`${deferred} ${mail.kind}s were deferred`);
}

/** Rows that one statement marks. As many mails are lost at most, beside those in flight, when the process dies. */
const MARK_ROWS = 8;

/** Yields the next mail. Marks a batch of rows only once a sender asks for one of them. */
async function* takeReady<Context>(
  { clock }: RunDeps,
  { isMarkedAhead, service }: DueMail<Context>,
  { claim, ready, canContinue }: { claim: Claim; ready: readonly Ready<Context>[]; canContinue: () => boolean },
  counts: RunCounts,
): AsyncGenerator<Ready<Context>> {
  const size = isMarkedAhead ? MARK_ROWS : 1;
  for (let at = 0; at < ready.length && canContinue(); at += size) {
    const batch = ready.slice(at, at + size);
    const marked = isMarkedAhead ? await markSent(service, claim, batch, clock.now()) : batch;
    counts.skipped += batch.length - marked.length;
    yield* marked;
  }
}

/** Plans and skips the rows for which nothing is sent, and returns the others. */
async function sortClaimed<Context>(
  { clock, log }: RunDeps,
  mail: DueMail<Context>,
  claim: Claim,
  counts: RunCounts,
): Promise<Ready<Context>[]> {
  const now = clock.now();
  const later: { userId: string; due: Due | null }[] = [];
  const timely: Sending[] = [];
  for (const row of claim.rows) {
    const { userId, dueAt, day, preferences } = row;
    const next = findNext(mail.timeOf(preferences), row, now, log);
    if (day !== null && next !== 'unknown' && isTimely({ at: dueAt, day }, now, preferences.time_zone ?? 'UTC')) {
      const tokens = mail.tokensOf(row);
      if (tokens !== null) {
        timely.push({ row: { ...row, day }, next, tokens });
        continue;
      }
    }
    if (day === null) counts.planned += 1;
    else counts.skipped += 1;
    later.push({ userId, due: next === 'unknown' ? null : next });
  }
  const contexts = await mail.readContexts(
    timely.map(({ row }) => row),
    now,
  );
  const ready: Ready<Context>[] = [];
  for (const sending of timely) {
    const { userId, preferences } = sending.row;
    const context = contexts.get(userId);
    if (context && mail.isWanted(context, preferences)) {
      ready.push({ sending, context });
      continue;
    }
    counts.skipped += 1;
    later.push({ userId, due: sending.next });
  }
  await planNext(mail.service, claim, later);
  return ready;
}

/** `unknown` for a time zone that this machine does not know. Null: it is off. */
function findNext(time: WeeklyTime | null, row: ClaimedRow, now: Date, log: Logger): Due | null | 'unknown' {
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

export type UserDay = { userId: string; day: Day };

/** Runs a statement whose parameters are the ids of users, the time now, and the day of each user. */
export async function readByUser<Row extends Recipient>(
  service: AsService,
  text: string,
  days: readonly UserDay[],
  now: Date,
): Promise<ReadonlyMap<string, Row>> {
  if (days.length === 0) return new Map();
  const { rows } = await service.statement<Row>(text, [
    days.map(({ userId }) => userId),
    now,
    days.map(({ day }) => day),
  ]);
  return new Map(rows.map((row) => [row.userId, row]));
}

/**
 * Mails what was marked as sent. `deferred`: the mail server has certainly not taken it, and the mark is undone.
 * `isShown`: devices were notified as well, so a mail that fails is not tried again.
 */
export async function deliverMarked(
  { clock, log, mailer }: { clock: Clock; log: Logger; mailer: Pick<Mailer, 'deliverBulk'> },
  service: AsService,
  { kind }: Claim,
  { sending, message, isShown = false }: { sending: Sending; message: MailMessage; isShown?: boolean },
): Promise<'mailed' | 'dropped' | 'deferred'> {
  try {
    await mailer.deliverBulk(message);
    return 'mailed';
  } catch (error) {
    if (!(error instanceof MailDeferred || error instanceof MailRejected)) throw error;
    if (error instanceof MailRejected || error.mayHaveArrived || isShown) {
      log.warn({ user: sending.row.userId }, `a ${kind} was dropped`);
      return 'dropped';
    }
    await releaseMark(service, kind, sending, clock.now());
    return 'deferred';
  }
}

export const unsubscribePath = (token: string): string => `/unsubscribe/${token}`;

/** Runs the work of all items, at most `limit` at a time. Rejects with the first error once the running work has ended. */
async function inParallel<Item>(
  limit: number,
  items: AsyncGenerator<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  // Not `for await`: a loop that ends early would end the generator for the other loops too.
  const runLeft = async (): Promise<void> => {
    for (let item = await items.next(); !item.done; item = await items.next()) await work(item.value);
  };
  const results = await Promise.allSettled(Array.from({ length: limit }, runLeft));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
