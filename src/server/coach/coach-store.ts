/**
 * What the coach reads and writes. Logs are read as their owner, so that the policies decide what it may see; what it
 * writes, no client may write, and it is written by the service.
 */
import { toCitations } from '#domain/coach/citations.ts';
import { CONTEXT_DAYS } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import type { AsService, Database, Identity } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import type { FinishReason } from './model/model.ts';
import { CAPS } from './prompts.ts';
import type { Reply, SoFar } from './reply/parse-response.ts';

export type Kind = 'feedback' | 'trend';

/** Whether the caller may have anything analysed; asked of the database, so that there is one rule and one clock. */
export type Standing = { premium: boolean; consent: boolean };

/** Times are texts as the database writes them: a JavaScript date would lose the microseconds that tell versions apart. */
export type FeedbackRow = {
  readAt: string;
  /** `text`: as much of the words as tells whether there is anything to speak of. */
  entry: { id: string; text: string; content: string; updatedAt: string } | null;
  earlier: { date: Day; text: string }[];
};
export type TrendLog = { id: string; date: Day; text: string; content: string; score: number | null };

/** Asked apart from the logs: a question that is refused must cost nothing, whoever sends how many of them. */
const READ_STANDING = `select public.is_premium() as premium,
  coalesce((select ai_consent from public.profiles where id = auth.uid()), false) as consent`;

/** More than a quick entry has. */
const JUDGED_CHARS = 200;

/** Of each text one character more than is shown, so that whoever cuts it sees that there is more. */
const READ_DAY = `select now()::text as "readAt",
  (select json_build_object('id', id, 'text', left(content_text, ${JUDGED_CHARS}),
                            'content', left(content, ${CAPS.newestRead + 1}), 'updatedAt', updated_at::text)
     from public.entries where user_id = auth.uid() and date = $1::date) as entry,
  coalesce((select json_agg(day order by day.date)
     from (select date, left(content_text, ${CAPS.earlierLog + 1}) as text from public.entries
            where user_id = auth.uid() and date < $1::date order by date desc limit ${CONTEXT_DAYS}) day), '[]') as earlier`;

const READ_PERIOD = `select id, date::text, left(content_text, ${JUDGED_CHARS}) as text,
    left(content, ${CAPS.trendRead} / (count(*) over ())::integer + 1) as content, hustle_score as score
  from public.entries where user_id = auth.uid() and date between $1::date and $2::date order by date`;

/** A token may name no session: then there is none that could end. */
const SESSION_LASTS = `select told.session is null or exists (
    select from auth.sessions where id = told.session and user_id = told.sub) as lasts
  from (select nullif($1::json ->> 'session_id', '00000000-0000-0000-0000-000000000000')::uuid as session,
               ($1::json ->> 'sub')::uuid as sub) told`;

/** One try at an analysis: the claim that nobody else is at it, until it is given back or its lease ends. */
export type Claim = { userId: string; kind: Kind; key: string; run: string };

const CLAIM = `insert into public.analysis_runs as held (user_id, kind, key, run, lease_until, counted_on, tries)
  values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', (now() at time zone 'UTC')::date, 1)
  on conflict (user_id, kind, key) do update
    set run = excluded.run, lease_until = excluded.lease_until, counted_on = excluded.counted_on,
        tries = case when held.counted_on = excluded.counted_on then held.tries + 1 else 1 end
    where held.lease_until <= now()
  returning run`;

/** Those of the day, and what is under way since whichever day. */
const TRIES = `
  select coalesce(sum(tries) filter (where counted_on = (now() at time zone 'UTC')::date), 0)::int as tries,
         (count(*) filter (where lease_until > now()))::int as "underWay",
         ceil(extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day'
                                 - (now() at time zone 'UTC')))::int as "resetInSeconds"
    from public.analysis_runs where user_id = $1`;

/** What is left of other days is swept away. */
const COUNT_TRIES = `with swept as (
    delete from public.analysis_runs
     where user_id = $1 and counted_on < (now() at time zone 'UTC')::date and lease_until <= now())${TRIES}`;

/** Reaches no row once somebody else has followed, or when it was given back before. */
const GIVE_BACK = `update public.analysis_runs set lease_until = '-infinity', tries = tries - $5
  where user_id = $1 and kind = $2 and key = $3 and run = $4 and lease_until > '-infinity' returning run`;

/**
 * A day that was deleted and written anew has another id: what was said of the old words is not about the new ones.
 * Up to date is what was read, when it is still what stands there. Words that were saved meanwhile are newer than the
 * feedback, also where their save began before the reading and ended after it.
 */
const WRITE_FEEDBACK = `update public.entries
   set ai_feedback = $3, hustle_score = $4,
       ai_analyzed_at = case when updated_at = $6::timestamptz then $5::timestamptz
                             else least($5::timestamptz, updated_at - interval '1 microsecond') end
 where user_id = $1 and date = $2 and id = $7 and content_text <> ''
 returning to_json(ai_analyzed_at) #>> '{}' as "analyzedAt", ai_analyzed_at >= updated_at as "upToDate"`;

/**
 * Held until the analysis is stored, so that no day is forgotten in between (0008_forgotten_days.sql), and no log leaves the
 * period (0015_moved_logs.sql). In the order of the
 * days, as an import sends them: in any other the two could each hold what the other waits for.
 */
const HOLD_DAYS = `select from public.entries
  where user_id = $1 and id = any($2::uuid[]) and content_text <> '' and date between $3::date and $4::date
  order by date for share`;

export type Written = { analyzedAt: string; upToDate: boolean };

/** An analysis as it is kept. */
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

/** Where a feedback goes: the day, and the version of its log that was read. */
export type ReadLog = { id: string; date: Day; readAt: string; updatedAt: string };
export type Period = { from: Day; to: Day };
/** Where a trend goes: the period, and the ids of the logs in it whose words were read. */
export type ReadPeriod = Period & { logs: readonly string[] };

/** The lease ran out, or a day was deleted or emptied: there is nothing that the result belongs to any more. */
export class ClaimLostError extends Error {
  constructor() {
    super('the analysis has no claim or no entry any more');
    this.name = 'ClaimLostError';
  }
}

const useOf = (userId: string) => queryBuilder.insertInto('plan_uses').values({ user_id: userId, kind: 'analysis' });

/** `counted`: the try is one of the day's. False when somebody else holds it by now. */
async function endClaim(service: AsService, { userId, kind, key, run }: Claim, counted: boolean): Promise<boolean> {
  return (await service.statement(GIVE_BACK, [userId, kind, key, run, counted ? 0 : 1])).rowCount === 1;
}

/** Null when the day is gone. */
async function writeFeedback(
  service: AsService,
  userId: string,
  { score, text }: SoFar,
  { id, date, readAt, updatedAt }: ReadLog,
): Promise<Written | null> {
  const values = [userId, date, text, score, readAt, updatedAt, id];
  return (await service.statement<Written>(WRITE_FEEDBACK, values)).rows[0] ?? null;
}

/** Of the day, and how many of the user's analyses are under way in all processes. */
export type Tries = { tries: number; underWay: number; resetInSeconds: number };

export type CoachStore = ReturnType<typeof createCoachStore>;

export function createCoachStore(database: Database) {
  const service = () => database.asService('coach');
  const readStanding = async (identity: Identity): Promise<Standing> =>
    (await database.asUser(identity).statement<Standing>(READ_STANDING, [])).rows[0]!;

  return {
    readStanding,

    async readDay(identity: Identity, date: Day): Promise<FeedbackRow> {
      return (await database.asUser(identity).statement<FeedbackRow>(READ_DAY, [date])).rows[0]!;
    },

    /** Oldest first. */
    async readPeriod(identity: Identity, { from, to }: Period): Promise<TrendLog[]> {
      return (await database.asUser(identity).statement<TrendLog>(READ_PERIOD, [from, to])).rows;
    },

    /** What was true when the analysis began may have ended since, in any process: plan, agreement or session. */
    async mayGoOn(identity: Identity): Promise<boolean> {
      const [{ premium, consent }, session] = await Promise.all([
        readStanding(identity),
        service().statement<{ lasts: boolean }>(SESSION_LASTS, [identity.claimsJson]),
      ]);
      return premium && consent && session.rows[0]!.lasts;
    },

    /** False when somebody is at it. */
    async claim({ userId, kind, key, run }: Claim, leaseMs: number): Promise<boolean> {
      return (await service().statement(CLAIM, [userId, kind, key, run, leaseMs])).rowCount === 1;
    },

    async triesSoFar(userId: string): Promise<Tries> {
      return (await service().statement<Tries>(TRIES, [userId])).rows[0]!;
    },

    async countTries(userId: string): Promise<Tries> {
      return (await service().statement<Tries>(COUNT_TRIES, [userId])).rows[0]!;
    },

    /**
     * `counted`: the provider was asked, so the try is one of the day's. `used`: the reader was told something, which is a
     * use of the plan as much as an answer that is kept (the refund rule of docs/specification/plans-and-money.md 7).
     */
    async giveBack(claim: Claim, counted: boolean, used: boolean): Promise<void> {
      await database.transactAsService('coach', async (transaction) => {
        await endClaim(transaction, claim, counted);
        if (used) await transaction.run(useOf(claim.userId));
      });
    },

    /** What was said about this very input before, with when. */
    async findByInput(userId: string, kind: Kind, inputHash: string) {
      const [found] = await service().run(
        queryBuilder
          .selectFrom('analyses')
          .select(['score', 'text', 'cited', 'cited_refs', 'missing_fact as missingFact', 'created_at as createdAt'])
          .where('user_id', '=', userId)
          .where('kind', '=', kind)
          .where('input_hash', '=', inputHash)
          .orderBy('created_at', 'desc')
          .limit(1),
      );
      if (!found) return null;
      const { cited: lines, cited_refs: refs, ...known } = found;
      return { ...known, cited: toCitations(lines, refs) };
    },

    /** Shows an earlier feedback on the day again, and gives the claim back. Null when the day is gone. */
    async showAgain(claim: Claim, known: SoFar, log: ReadLog): Promise<Written | null> {
      return database.transactAsService('coach', async (transaction) => {
        await endClaim(transaction, claim, false);
        return writeFeedback(transaction, claim.userId, known, log);
      });
    },

    /** Everything that a finished analysis leaves behind, or nothing. Throws a ClaimLostError. */
    async finish(
      claim: Claim,
      analysis: Analysis,
      about: ReadLog | ReadPeriod,
    ): Promise<{ written: Written | null; at: Date }> {
      const { userId, kind } = claim;
      return database.transactAsService('coach', async (transaction) => {
        if (!(await endClaim(transaction, claim, true))) throw new ClaimLostError();
        let written: Written | null = null;
        if ('date' in about) {
          written = await writeFeedback(transaction, userId, analysis, about);
          if (!written) throw new ClaimLostError();
        } else {
          const there = await transaction.statement(HOLD_DAYS, [userId, about.logs, about.from, about.to]);
          if (there.rowCount !== about.logs.length) throw new ClaimLostError();
        }
        const [added] = await transaction.run(
          queryBuilder
            .insertInto('analyses')
            .values({
              user_id: userId,
              kind,
              date: 'date' in about ? about.date : null,
              period_from: 'from' in about ? about.from : null,
              period_to: 'to' in about ? about.to : null,
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
            .returning('created_at'),
        );
        await transaction.run(useOf(userId));
        return { written, at: added!.created_at };
      });
    },
  };
}
