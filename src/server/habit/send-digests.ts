/** Sends the digests of Friday evening that are due (docs/specification/habit.md 4). */
import { parseCoachText, type CoachSpan } from '#domain/coach/coach-text.ts';
import { trendSentence } from '#domain/coach/hustle-score.ts';
import { firstLines, splitReview, type DayText } from '#domain/coach/win-bullets.ts';
import { addDays, type Day } from '#domain/day/day.ts';
import { countWorkdays, workdaysText, type TimeOff } from '#domain/day/time-off.ts';
import { digestTime } from '#domain/habit/reminder-time.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Coach } from '../coach/coach.ts';
import type { AsService } from '../database/database.ts';
import type { EmailBlock } from '../mail/email-template.ts';
import { digestMail } from '../mail/habit-emails.ts';
import { signUnsubscription } from './mail-tokens.ts';
import { markSent, RECIPIENTS, type Claim, type Recipient, type Sending } from './reminder-schedule.ts';
import { deliverMarked, readByUser, sendDue, unsubscribePath, type Ready } from './send-due.ts';
import type { ReminderDeps } from './send-reminders.ts';

type DigestDeps = Omit<ReminderDeps, 'replyAddress' | 'push'> & {
  /** Null when no coach is configured. */
  coach: Pick<Coach, 'review'> | null;
};

type Counts = { mailed: number; reviewed: number; planned: number; skipped: number; dropped: number };

/** A small batch: eight reviews run at once, each for up to a minute, and the lease of the batch ends after five. */
const CLAIM_ROWS = 12;
/** A digest whose review takes longer is sent without it. */
const REVIEW_LIMIT_MS = 60_000;

/** @throws MailDeferred when some mails were deferred: they are tried again in some minutes */
export async function sendDigests(deps: DigestDeps, signal: AbortSignal): Promise<Counts> {
  const service = deps.database.asService('send digests');
  const counts: Counts = { mailed: 0, reviewed: 0, planned: 0, skipped: 0, dropped: 0 };
  await sendDue<Week>(
    deps,
    {
      kind: 'digest',
      service,
      claimRows: CLAIM_ROWS,
      isMarkedAhead: false,
      timeOf: digestTime,
      tokensOf: () => [],
      readContexts: (days, now) => readByUser(service, READ_WEEKS, days, now),
      isWanted: ({ email, logs }) => email !== null && logs.length > 0,
      sendOne: (claim, ready) => sendOne(deps, service, { claim, ready, signal }, counts),
    },
    counts,
    signal,
  );
  return counts;
}

const WEEK_DAYS = 7;
/** Reads no more of a log than its first line needs. */
const LOG_CHARS = 4_000;
/** The days whose scores show the trend. */
const TREND_DAYS = 30;
/**
 * What digests show: the logs of the week and the logged dates of the week before, which every plan opens, the first
 * logged day, time off, and on the paid plan the scores of `TREND_DAYS`.
 */
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

type Run = { claim: Claim; ready: Ready<Week>; signal: AbortSignal };

/** False if the mail server has certainly not taken the mail. */
async function sendOne(
  deps: DigestDeps,
  service: AsService,
  { claim, ready, signal }: Run,
  counts: Counts,
): Promise<boolean> {
  const { sending, context: week } = ready;
  const wantsReview = sending.row.preferences.digest_review && week.isPremium && week.hasConsent;
  const review = wantsReview ? await reviewWeek(deps, sending.row, signal) : null;
  if ((await markSent(service, claim, [ready], deps.clock.now())).length === 0) {
    counts.skipped += 1;
    return true;
  }
  const message = writeDigest(deps, sending.row, week, review);
  const outcome = await deliverMarked(deps, service, claim, { sending, message });
  if (outcome === 'deferred') return false;
  counts[outcome] += 1;
  if (outcome === 'mailed' && review !== null) counts.reviewed += 1;
  return true;
}

/**
 * The review of the seven days as the reviews page would write it, or its stored one. Null if it is refused, fails or
 * takes too long.
 */
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
    const answer = await coach.review({ userId, identity }, request, ended);
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
    // `isWanted` has checked it.
    to: email!,
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
