/**
 * Database access of the coach. It reads logs as their owner, so that row-level security applies. It writes as the
 * service, because clients may not insert analyses, reviews or tries.
 */
import { toCitations } from '#domain/coach/citations.ts';
import { CONTEXT_DAYS } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import type { TimeOff } from '#domain/day/time-off.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import type { FinishReason } from './model/model.ts';
import { PROMPT_LIMITS } from './prompts.ts';
import type { PartialReply, Reply } from './parse-response.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { Logger } from '../log.ts';
import { recordPlanUse } from '../plans/change-plan.ts';

export type Kind = 'feedback' | 'trend';

const MAX_REVIEWS_OF_PERIOD = 20;

/** The database decides about plan and consent, so that one rule and one clock apply everywhere. */
type Access = { premium: boolean; consent: boolean };

/** Times stay text: a JavaScript date would lose the microseconds by which versions are compared. */
type FeedbackRow = {
  readAt: string;
  /** `text`: the first characters, enough for the checks of `feedbackRefusal`. */
  entry: { id: string; text: string; content: string; updatedAt: string } | null;
  earlier: { date: Day; text: string }[];
};
type ReviewLog = { id: string; date: Day; text: string; content: string; score: number | null };
/** `fingerprint`: differs after every change of the period's logs. */
type PeriodRow = { logs: ReviewLog[]; timeOff: TimeOff[]; fingerprint: string };

/** Runs before the logs are loaded. Threat: a flood of requests that will be refused loads large logs. */
const READ_ACCESS = `select public.is_premium() as premium,
  coalesce((select ai_consent from public.profiles where id = $1), false) as consent`;

/** The checks before an analysis read this many characters of a log: enough to recognise a quick entry and refuse it. */
const REFUSAL_CHECK_CHARS = 200;

/** Loads one character more than `PROMPT_LIMITS` allows, so that truncation is detected and reported to the model. */
const READ_DAY = `select now()::text as "readAt",
  (select json_build_object('id', id, 'text', left(content_text, ${REFUSAL_CHECK_CHARS}),
                            'content', left(content, ${PROMPT_LIMITS.newestRead + 1}), 'updatedAt', updated_at::text)
     from public.entries where user_id = $1 and date = $2::date) as entry,
  coalesce((select json_agg(day order by day.date)
     from (select date, left(content_text, ${PROMPT_LIMITS.earlierLog + 1}) as text from public.entries
            where user_id = $1 and date < $2::date order by date desc limit ${CONTEXT_DAYS}) day), '[]') as earlier`;

const READ_PERIOD = `select id, date::text, left(content_text, ${REFUSAL_CHECK_CHARS}) as text,
    left(content, ${PROMPT_LIMITS.reviewRead} / (count(*) over ())::integer + 1) as content, hustle_score as score,
    (select public.fingerprint_logs($2::date, $3::date)) as fingerprint,
    (select coalesce(json_agg(json_build_object('first_day', first_day, 'last_day', last_day)), '[]') from public.time_off
      where user_id = $1 and first_day <= $3::date and last_day >= $2::date) as "timeOff"
  from public.entries where user_id = $1 and date between $2::date and $3::date order by date`;

const READ_FINGERPRINT = `select public.fingerprint_logs($2::date, $3::date) as fingerprint
  from public.profiles where id = $1`;

/** Stores a review with the id of its analysis, and keeps the 20 newest of its range. */
const KEEP_REVIEW = `with kept as (
    insert into public.reviews (user_id, id, period, period_from, period_to, entry_count, text, logs_fingerprint, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (user_id, id) do update set logs_fingerprint = excluded.logs_fingerprint returning id)
  delete from public.reviews where user_id = $1 and id in (
    select id from public.reviews
     where user_id = $1 and period = $3 and period_from = $4 and period_to = $5 and id <> $2
     order by created_at desc, id offset ${MAX_REVIEWS_OF_PERIOD - 1})`;

/** A token without a session id has no session that could end, so it counts as active. */
const IS_SESSION_ACTIVE = `select claims.session is null or exists (
    select from auth.sessions where id = claims.session and user_id = claims.sub) as active
  from (select nullif($1::json ->> 'session_id', '00000000-0000-0000-0000-000000000000')::uuid as session,
               ($1::json ->> 'sub')::uuid as sub) claims`;

/** An exclusive lease on one day or period of one user. `run` identifies the holder. */
export type Claim = { userId: string; kind: Kind; key: string; run: string };

const CLAIM = `insert into public.analysis_runs as held (user_id, kind, key, run, lease_until, counted_on, tries)
  values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', (now() at time zone 'UTC')::date, 1)
  on conflict (user_id, kind, key) do update
    set run = excluded.run, lease_until = excluded.lease_until, counted_on = excluded.counted_on,
        tries = case when held.counted_on = excluded.counted_on then held.tries + 1 else 1 end
    where held.lease_until <= now()
  returning run`;

/** The tries of today (UTC) and the active leases of any day. */
const READ_TRIES = `
  select coalesce(sum(tries) filter (where counted_on = (now() at time zone 'UTC')::date), 0)::int as tries,
         (count(*) filter (where lease_until > now()))::int as running,
         ceil(extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day'
                                 - (now() at time zone 'UTC')))::int as "resetInSeconds"
    from public.analysis_runs where user_id = $1`;

/** Like `READ_TRIES`, and deletes the user's rows of earlier days whose lease has expired. */
const PURGE_AND_READ_TRIES = `with purged as (
    delete from public.analysis_runs
     where user_id = $1 and counted_on < (now() at time zone 'UTC')::date and lease_until <= now())${READ_TRIES}`;

/** No-op if the lease was lost or already released. */
const RELEASE_CLAIM = `update public.analysis_runs set lease_until = '-infinity', tries = tries - $5
  where user_id = $1 and kind = $2 and key = $3 and run = $4 and lease_until > '-infinity' returning run`;

/**
 * Matches the entry's id, because feedback on a deleted log must not land on a new log of the same day.
 * The feedback is current only if the row is unchanged since it was read. Otherwise `ai_analyzed_at` is set before
 * `updated_at`, also if the concurrent save started before the read and committed after it.
 */
const WRITE_FEEDBACK = `update public.entries
   set ai_feedback = $3, hustle_score = $4,
       ai_analyzed_at = case when updated_at = $6::timestamptz then $5::timestamptz
                             else least($5::timestamptz, updated_at - interval '1 microsecond') end
 where user_id = $1 and date = $2 and id = $7 and content_text <> ''
 returning to_json(ai_analyzed_at) #>> '{}' as "analyzedAt", ai_analyzed_at >= updated_at as "upToDate"`;

/**
 * Row locks held until the analysis is stored, so that no log is deleted or moved out of the period in between: the
 * trigger `follow_entry` (database/schema.sql) deletes the analyses of such a log, but only those already stored. Locks
 * are taken in date order, as an import does, to prevent deadlocks.
 */
const LOCK_LOGS = `select from public.entries
  where user_id = $1 and id = any($2::uuid[]) and content_text <> '' and date between $3::date and $4::date
  order by date for share`;

export type WrittenFeedback = { analyzedAt: string; upToDate: boolean };

export type Analysis = Reply & {
  inputHash: string;
  provider: string;
  model: string;
  modelVersion: string | null;
  promptVersion: number;
  finish: FinishReason;
  inputTokens: number | null;
  outputTokens: number | null;
  durationMs: number;
};

/** Target of a feedback: the day and the version of its log that was read. */
export type ReadLog = { id: string; date: Day; readAt: string; updatedAt: string };
type Period = { from: Day; to: Day };
/**
 * Target of a review: the period and the ids of the logs that were read. `review`: how the review is kept; null for the
 * summary of a month, which only a longer review reads.
 */
export type ReadPeriod = Period & { logs: readonly string[]; review: KeptAs | null };
export type KeptAs = { period: ReviewPeriod; entryCount: number; fingerprint: string };

/** Another run took the expired lease, or a log was deleted, emptied or moved, so the result has no target. */
export class ClaimLostError extends Error {
  constructor() {
    super('the claim or the log of the analysis is gone');
    this.name = 'ClaimLostError';
  }
}

/** `countTry`: whether the try counts towards the daily limit. Returns false if the lease was lost. */
async function releaseLease(
  service: AsService,
  { userId, kind, key, run }: Claim,
  countTry: boolean,
): Promise<boolean> {
  return (await service.statement(RELEASE_CLAIM, [userId, kind, key, run, countTry ? 0 : 1])).rowCount === 1;
}

/** Returns null if the log was deleted, emptied or moved to another day. */
async function writeFeedback(
  service: AsService,
  userId: string,
  { score, text }: PartialReply,
  { id, date, readAt, updatedAt }: ReadLog,
): Promise<WrittenFeedback | null> {
  const values = [userId, date, text, score, readAt, updatedAt, id];
  return (await service.statement<WrittenFeedback>(WRITE_FEEDBACK, values)).rows[0] ?? null;
}

type StoredText = { id: string; text: string; createdAt: Date };

async function keepReview(
  service: AsService,
  userId: string,
  { id, text, createdAt }: StoredText,
  { from, to, review }: ReadPeriod,
): Promise<void> {
  if (review === null) return;
  const { period, entryCount, fingerprint } = review;
  await service.statement(KEEP_REVIEW, [userId, id, period, from, to, entryCount, text, fingerprint, createdAt]);
}

/** One user's tries of today and running analyses, over all server processes. */
export type Tries = { tries: number; running: number; resetInSeconds: number };

export type CoachStore = ReturnType<typeof createCoachStore>;

export function createCoachStore(database: Database) {
  const service = () => database.asService('run the coach');
  const readAccess = async ({ identity, userId }: SignedInCaller): Promise<Access> =>
    (await database.asUser(identity).statement<Access>(READ_ACCESS, [userId])).rows[0]!;

  return {
    readAccess,

    async readDay({ identity, userId }: SignedInCaller, date: Day): Promise<FeedbackRow> {
      return (await database.asUser(identity).statement<FeedbackRow>(READ_DAY, [userId, date])).rows[0]!;
    },

    /** Returns the logs of the period, oldest first. */
    async readPeriod({ identity, userId }: SignedInCaller, { from, to }: Period): Promise<PeriodRow> {
      const { rows } = await database
        .asUser(identity)
        .statement<ReviewLog & Omit<PeriodRow, 'logs'>>(READ_PERIOD, [userId, from, to]);
      return { logs: rows, timeOff: rows[0]?.timeOff ?? [], fingerprint: rows[0]?.fingerprint ?? '' };
    },

    async readFingerprint({ identity, userId }: SignedInCaller, { from, to }: Period): Promise<string> {
      const { rows } = await database
        .asUser(identity)
        .statement<{ fingerprint: string }>(READ_FINGERPRINT, [userId, from, to]);
      return rows[0]?.fingerprint ?? '';
    },

    /** Checks plan, consent and session again: each can end while an analysis runs. */
    async isStillAllowed(caller: SignedInCaller): Promise<boolean> {
      const [{ premium, consent }, session] = await Promise.all([
        readAccess(caller),
        service().statement<{ active: boolean }>(IS_SESSION_ACTIVE, [caller.identity.claimsJson]),
      ]);
      return premium && consent && session.rows[0]!.active;
    },

    /** Returns false while another run holds the lease. */
    async claim({ userId, kind, key, run }: Claim, leaseMs: number): Promise<boolean> {
      return (await service().statement(CLAIM, [userId, kind, key, run, leaseMs])).rowCount === 1;
    },

    async readTries(userId: string): Promise<Tries> {
      return (await service().statement<Tries>(READ_TRIES, [userId])).rows[0]!;
    },

    async purgeAndReadTries(userId: string): Promise<Tries> {
      return (await service().statement<Tries>(PURGE_AND_READ_TRIES, [userId])).rows[0]!;
    },

    /**
     * `countTry`: the provider was called, so the try counts towards the daily limit. `recordUse`: the user received
     * part of an answer, which counts as a use of the plan (refund rule, docs/specification/plans-and-money.md 7).
     */
    async releaseClaim(claim: Claim, countTry: boolean, recordUse: boolean): Promise<void> {
      await database.transactAsService('coach', async (transaction) => {
        await releaseLease(transaction, claim, countTry);
        if (recordUse) await recordPlanUse(transaction, claim.userId, 'analysis');
      });
    },

    /** The newest stored analysis of this input, or null. */
    async findByInput(userId: string, kind: Kind, inputHash: string) {
      const [found] = await service().run(
        queryBuilder
          .selectFrom('analyses')
          .select([
            'id',
            'score',
            'text',
            'cited',
            'cited_refs',
            'missing_fact as missingFact',
            'created_at as createdAt',
          ])
          .where('user_id', '=', userId)
          .where('kind', '=', kind)
          .where('input_hash', '=', inputHash)
          .orderBy('created_at', 'desc')
          .limit(1),
      );
      if (!found) return null;
      const { cited: lines, cited_refs: refs, ...stored } = found;
      return { ...stored, cited: toCitations(lines, refs) };
    },

    /**
     * Writes the feedback of a stored analysis of the same input to the entry, and releases the claim without counting
     * a try. Returns null if the log is gone.
     */
    async restoreFeedback(claim: Claim, feedback: PartialReply, log: ReadLog): Promise<WrittenFeedback | null> {
      return database.transactAsService('coach', async (transaction) => {
        await releaseLease(transaction, claim, false);
        return writeFeedback(transaction, claim.userId, feedback, log);
      });
    },

    /** Stores a replayed review again, because its owner may have deleted it. */
    async keepReview(userId: string, { id, text, createdAt }: StoredText, target: ReadPeriod): Promise<void> {
      await keepReview(service(), userId, { id, text, createdAt }, target);
    },

    /**
     * Stores the analysis, the entry's feedback or the review, and the plan use in one transaction. Throws a
     * ClaimLostError if the lease or a log is gone.
     */
    async storeAnalysis(
      claim: Claim,
      analysis: Analysis,
      target: ReadLog | ReadPeriod,
    ): Promise<{ written: WrittenFeedback | null; at: Date }> {
      const { userId, kind } = claim;
      return database.transactAsService('coach', async (transaction) => {
        if (!(await releaseLease(transaction, claim, true))) throw new ClaimLostError();
        let written: WrittenFeedback | null = null;
        if ('date' in target) {
          written = await writeFeedback(transaction, userId, analysis, target);
          if (!written) throw new ClaimLostError();
        } else {
          const locked = await transaction.statement(LOCK_LOGS, [userId, target.logs, target.from, target.to]);
          if (locked.rowCount !== target.logs.length) throw new ClaimLostError();
        }
        const [added] = await transaction.run(
          queryBuilder
            .insertInto('analyses')
            .values({
              user_id: userId,
              kind,
              date: 'date' in target ? target.date : null,
              period_from: 'from' in target ? target.from : null,
              period_to: 'to' in target ? target.to : null,
              input_hash: analysis.inputHash,
              provider: analysis.provider,
              model: analysis.model,
              model_version: analysis.modelVersion,
              prompt_version: analysis.promptVersion,
              finish_reason: analysis.finish,
              input_tokens: analysis.inputTokens,
              output_tokens: analysis.outputTokens,
              duration_ms: analysis.durationMs,
              score: analysis.score,
              text: analysis.text,
              cited: analysis.cited.map(({ line }) => line),
              cited_refs: analysis.cited.map(({ ref }) => ref),
              missing_fact: analysis.missingFact,
            })
            .returning(['id', 'created_at']),
        );
        if ('from' in target) {
          await keepReview(
            transaction,
            userId,
            { id: added!.id, text: analysis.text, createdAt: added!.created_at },
            target,
          );
        }
        await recordPlanUse(transaction, userId, 'analysis');
        return { written, at: added!.created_at };
      });
    },
  };
}

// Binds the users' consent to one AI provider. Threat: an operator changes the provider, and journals go to a provider
// that their owners never agreed to. `profiles.ai_consent` names no provider, so a change of provider resets the column
// to false, and the user is asked again with the new name.

const READ_PROVIDER = 'select name from public.coach_reader for update';
const SAVE_PROVIDER = `insert into public.coach_reader (name) values ($1)
  on conflict (only_one) do update set name = excluded.name, since = now()`;
const RESET_CONSENT = 'update public.profiles set ai_consent = false where ai_consent';

/** Must run on server start, before anything is sent to `provider`. A server without a coach keeps the stored name. */
export async function resetConsentOnProviderChange(database: Database, provider: string, log: Logger): Promise<void> {
  const accounts = await database.transactAsService('coach provider', async (transaction) => {
    const [stored] = (await transaction.statement<{ name: string }>(READ_PROVIDER, [])).rows;
    if (stored?.name === provider) return 0;
    await transaction.statement(SAVE_PROVIDER, [provider]);
    return stored ? (await transaction.statement(RESET_CONSENT, [])).rowCount : 0;
  });
  if (accounts > 0) log.warn({ accounts, provider }, 'AI provider changed: consent was reset');
}
