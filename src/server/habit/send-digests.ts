/** Sends the digests of Friday evening that are due (docs/specification/habit.md 4). */
import { parseCoachText, type CoachSpan } from '#domain/coach/coach-text.ts';
import { trendSentence } from '#domain/coach/trend-sentence.ts';
import { firstLines, splitReview, type DayText } from '#domain/coach/win-bullets.ts';
import { addDays, type Day } from '#domain/day/day.ts';
import type { TimeOff } from '#domain/day/time-off.ts';
import { countWorkdays, workdaysText } from '#domain/day/workdays.ts';
import { digestTime, isTimely, type Due } from '#domain/habit/reminder-time.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Coach } from '../coach/coach.ts';
import type { AsService } from '../database/database.ts';
import type { EmailBlock } from '../mail/email-template.ts';
import { digestMail } from '../mail/habit-emails.ts';
import { MailDeferred, MailRejected, MAX_BULK_CONNECTIONS } from '../mail/mailer.ts';
import { signUnsubscription } from './mail-tokens.ts';
import {
  claimDue,
  markSent,
  planNext,
  RECIPIENTS,
  releaseMark,
  type Claim,
  type Recipient,
  type Sending,
} from './reminder-schedule.ts';
import { findNext, inParallel, unsubscribePath, type ReminderDeps } from './send-reminders.ts';

type DigestDeps = Omit<ReminderDeps, 'replyAddress' | 'push'> & {
  /** Null when no coach is configured. */
  coach: Pick<Coach, 'trend'> | null;
};

type Counts = { mailed: number; reviewed: number; planned: number; skipped: number; dropped: number };

const MAX_RUN_MS = 8 * 60_000;
/** A review takes up to a minute, and its claim ends after five. */
const CLAIM_ROWS = 12;
/** Without a review by then, the digest leaves without it. */
const REVIEW_LIMIT_MS = 60_000;
const MAX_DEFERRED_PER_RUN = 3;

/** @throws MailDeferred when some mails were deferred: they are tried again in some minutes */
export async function sendDigests(deps: DigestDeps, signal: AbortSignal): Promise<Counts> {
  const { database, clock } = deps;
  const service = database.asService('send digests');
  const counts: Counts = { mailed: 0, reviewed: 0, planned: 0, skipped: 0, dropped: 0 };
  const endsAt = clock.now().getTime() + MAX_RUN_MS;
  let deferred = 0;
  while (!signal.aborted && deferred < MAX_DEFERRED_PER_RUN && clock.now().getTime() < endsAt) {
    const claim = await claimDue(service, 'digest', clock.now(), CLAIM_ROWS);
    if (claim.rows.length === 0) break;
    await inParallel(MAX_BULK_CONNECTIONS, await sortClaimed(deps, service, claim, counts), async (ready) => {
      if (signal.aborted || deferred >= MAX_DEFERRED_PER_RUN) return;
      if (!(await sendOne(deps, service, { claim, ready, signal }, counts))) deferred += 1;
    });
  }
  if (deferred > 0) throw new MailDeferred(`${deferred} digests were deferred`);
  return counts;
}

type Ready = { sending: Sending; week: Week };

/** Plans and skips the rows for which nothing is sent, and returns the others. */
async function sortClaimed(
  { clock, log }: DigestDeps,
  service: AsService,
  claim: Claim,
  counts: Counts,
): Promise<Ready[]> {
  const now = clock.now();
  const later: { userId: string; due: Due | null }[] = [];
  const timely: Sending[] = [];
  for (const row of claim.rows) {
    const next = findNext(digestTime(row.preferences), row, now, log);
    if (
      row.day !== null &&
      next !== 'unknown' &&
      isTimely({ at: row.dueAt, day: row.day }, now, row.preferences.time_zone ?? 'UTC')
    ) {
      timely.push({ row: { ...row, day: row.day }, next, tokens: [] });
      continue;
    }
    if (row.day === null) counts.planned += 1;
    else counts.skipped += 1;
    later.push({ userId: row.userId, due: next === 'unknown' ? null : next });
  }
  const weeks = await readWeeks(service, timely, now);
  const ready: Ready[] = [];
  for (const sending of timely) {
    const week = weeks.get(sending.row.userId);
    if (week && week.logs.length > 0) ready.push({ sending, week });
    else {
      counts.skipped += 1;
      later.push({ userId: sending.row.userId, due: sending.next });
    }
  }
  await planNext(service, claim, later);
  return ready;
}

const WEEK_DAYS = 7;
/** Reads no more of a log than its first line needs. */
const LOG_CHARS = 4_000;
/** The scores of a month tell a direction. */
const TREND_DAYS = 30;
/** The days of the week and of the week before, which every plan opens; the scores of a Closer. */
const READ_WEEKS = `
  with recipients as (${RECIPIENTS})
  select recipients.*,
         (select min(date)::text from public.entries where user_id = due.user_id and content_text <> '') as "firstDay",
         coalesce((select json_agg(json_build_object('date', date, 'html', left(content, ${LOG_CHARS}), 'score', hustle_score) order by date)
            from public.entries
           where user_id = due.user_id and date > due.day - ${WEEK_DAYS} and date <= due.day and content_text <> ''), '[]') as logs,
         case when "isPremium" then
           (select json_agg(json_build_object('date', date, 'score', hustle_score) order by date) from public.entries
             where user_id = due.user_id and date > due.day - ${TREND_DAYS} and date <= due.day and hustle_score is not null)
         end as scores,
         coalesce((select json_agg(json_build_object('first_day', first_day, 'last_day', last_day)) from public.time_off
           where user_id = due.user_id and last_day > due.day - ${2 * WEEK_DAYS} and first_day <= due.day), '[]') as "timeOff",
         coalesce((select json_agg(date) from public.entries
           where user_id = due.user_id and date > due.day - ${2 * WEEK_DAYS} and date <= due.day - ${WEEK_DAYS} and content_text <> ''), '[]') as "daysBefore"
    from recipients join unnest($1::uuid[], $3::date[]) as due (user_id, day) on due.user_id = recipients."userId"`;

type Week = Recipient & {
  firstDay: Day | null;
  logs: { date: Day; html: string; score: number | null }[];
  timeOff: TimeOff[];
  daysBefore: Day[];
  scores: { date: Day; score: number }[] | null;
};

async function readWeeks(
  service: AsService,
  sendings: readonly Sending[],
  now: Date,
): Promise<ReadonlyMap<string, Week>> {
  if (sendings.length === 0) return new Map();
  const { rows } = await service.statement<Week>(READ_WEEKS, [
    sendings.map(({ row }) => row.userId),
    now,
    sendings.map(({ row }) => row.day),
  ]);
  return new Map(rows.map((week) => [week.userId, week]));
}

type Run = { claim: Claim; ready: Ready; signal: AbortSignal };

/** False if the mail server has certainly not taken the mail. */
async function sendOne(
  deps: DigestDeps,
  service: AsService,
  { claim, ready, signal }: Run,
  counts: Counts,
): Promise<boolean> {
  const { clock, log, mailer } = deps;
  const { sending, week } = ready;
  const wantsReview = sending.row.preferences.digest_review && week.isPremium && week.hasConsent;
  const review = wantsReview ? await reviewWeek(deps, sending.row, signal) : null;
  if (!(await markSent(service, claim, sending, clock.now()))) {
    counts.skipped += 1;
    return true;
  }
  try {
    await mailer.deliverBulk(writeDigest(deps, sending.row, week, review));
    counts.mailed += 1;
    if (review !== null) counts.reviewed += 1;
    return true;
  } catch (error) {
    if (!(error instanceof MailDeferred || error instanceof MailRejected)) throw error;
    if (error instanceof MailRejected || error.mayHaveArrived) {
      log.warn({ user: week.userId }, 'a digest was dropped');
      counts.dropped += 1;
      return true;
    }
    await releaseMark(service, 'digest', sending, clock.now());
    return false;
  }
}

/** The review of the seven days as the reviews page would write it, or its stored one. Null if there is none in time. */
async function reviewWeek(
  { coach, log }: DigestDeps,
  { userId, day }: { userId: string; day: Day },
  signal: AbortSignal,
): Promise<string | null> {
  if (coach === null) return null;
  const identity = {
    role: 'authenticated' as const,
    claimsJson: JSON.stringify({ sub: userId, role: 'authenticated' }),
  };
  const ended = AbortSignal.any([signal, AbortSignal.timeout(REVIEW_LIMIT_MS)]);
  try {
    const request = { period: '7-day' as const, from: addDays(day, 1 - WEEK_DAYS), to: day };
    const answer = await coach.trend({ userId, identity }, request, ended);
    if (answer === 'disconnected' || 'refused' in answer) return null;
    let text: string | null = null;
    for await (const event of answer.events(ended)) if (event.event === 'done') text = event.data.analysis;
    return text;
  } catch (error) {
    log.warn({ err: error, user: userId }, 'a digest has no review');
    return null;
  }
}

function writeDigest(
  { config, clock, unsubscribeSecret }: DigestDeps,
  { day, preferences }: Pick<Sending['row'], 'day' | 'preferences'>,
  week: Week,
  review: string | null,
) {
  const { publicUrl } = config;
  const { userId, email, logs, timeOff, daysBefore, firstDay, isPremium, scores } = week;
  const work = { timeOff, workdays: preferences.workdays };
  const from = addDays(day, 1 - WEEK_DAYS);
  const days = logs.map(({ date }) => date);
  const accounted = countWorkdays(from, day, day, new Set(firstDay === null ? days : [...days, firstDay]), work);
  const isNew = firstDay === null || firstDay > addDays(from, -WEEK_DAYS);
  const before = countWorkdays(addDays(from, -WEEK_DAYS), addDays(from, -1), day, new Set(daysBefore), work);
  const split = review === null ? null : splitReview(review);
  const wins: DayText[] = split !== null && split.wins.length > 0 ? split.wins : firstLines(logs);
  return digestMail({
    to: email,
    from,
    until: day,
    workdays: workdaysText(accounted),
    scores: isPremium ? logs.flatMap(({ date, score }) => (score === null ? [] : [{ day: date, score }])) : null,
    wins,
    hasWins: split !== null && split.wins.length > 0,
    trend: trendSentence(scores ?? [], day) ?? (isNew ? null : compareWeeks(accounted.accounted, before.accounted)),
    review: split === null ? null : blocksOf(split.text),
    link: publicUrl + ROUTES.reviews.path,
    settingsLink: publicUrl + ROUTES.settings.path,
    unsubscribeLink:
      publicUrl +
      unsubscribePath(signUnsubscription({ userId, kind: 'digest', sentAt: clock.now() }, unsubscribeSecret)),
  });
}

function compareWeeks(now: number, before: number): string {
  if (now === before) return 'As many as in the week before.';
  const difference = Math.abs(now - before);
  return `${difference} ${now > before ? 'more' : 'fewer'} than in the week before.`;
}

function blocksOf(review: string): EmailBlock[] {
  return parseCoachText(review).map((block) =>
    block.kind === 'paragraph'
      ? textOf(block.spans)
      : { items: block.items.map(textOf), isNumbered: block.kind === 'numbers' },
  );
}

const textOf = (spans: readonly CoachSpan[]): string =>
  spans.map((span) => ('spans' in span ? textOf(span.spans) : span.text)).join('');
