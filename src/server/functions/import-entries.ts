/**
 * `import-entries` {entries}: writes days of an imported file (docs/decisions/0012). The words are written as the user,
 * under the same policies as every save. What clients may not write, the coach's columns, the service writes: of that
 * user's rows alone, and only where the words beside it are the file's.
 *
 * Nothing is ever overwritten unseen: an entry names the version that it replaces, or null for a day without a log.
 */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { latestToday } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { ImportedDay, Refusal } from '#domain/export/exported-entry.ts';
import { IMPORT_MAX_ENTRIES } from '#domain/export/import-wire.ts';
import type { ImportAnswer, ImportOutcome } from '#domain/export/import-wire.ts';
import { readJsonEntry } from '#domain/export/formats/json-format.ts';
import { MESSAGES } from '#domain/messages.ts';
import { UUID } from '../auth/keys/access-tokens.ts';
import type { Clock } from '../clock.ts';
import { stripInvisible } from '#domain/coach/strip-invisible.ts';
import { sanitizeLog } from '../data/rows/sanitize-log.ts';
import { DataError } from '../data/errors.ts';
import { withDateHeaderSql } from '../data/sql/to-sql.ts';
import { createConcurrencyLimiter } from '../http/requests/concurrency-limiter.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { isCallerPremium } from '../plans/is-caller-premium.ts';
import { readBody } from './read-body.ts';

type ImportDeps = { database: Database; clock: Clock };

/** A day that may be written: cleaned, not empty, not in the future. */
type Writable = ImportedDay & { replaces: Version | null };
type Written = Version & { date: Day };

const REFUSAL_OF: Readonly<Record<string, Refusal>> = { '54000': 'tooLong', '54001': 'tooDeep' };
const LARGEST_REVISION = 2 ** 31 - 1;

const INSERT = `
  insert into public.entries (user_id, date, content)
  select $1::uuid, sent.date, ${withDateHeaderSql('sent.date', 'sent.content')}
    from json_to_recordset($2::json) as sent(date date, content text)
  on conflict (user_id, date) do nothing
  returning date, id, revision`;

const REPLACE = `
  update public.entries as kept set content = ${withDateHeaderSql('kept.date', 'sent.content')}
    from json_to_recordset($2::json) as sent(date date, content text, id uuid, revision integer)
   where kept.user_id = $1::uuid and kept.date = sent.date and kept.id = sent.id and kept.revision = sent.revision
  returning kept.date, kept.id, kept.revision`;

/**
 * A feedback from a file is never newer than the words it stands beside: it could otherwise claim to be about them. Nor does
 * it take the place of one that is: the coach may have looked at the same words since they were compared with the file's.
 */
const COACH = `
  update public.entries as kept
     set ai_feedback = sent.feedback, hustle_score = sent."hustleScore",
         ai_analyzed_at = case when sent."analyzedAt" is null then null
                               else least(sent."analyzedAt", kept.updated_at - interval '1 millisecond') end
    from json_to_recordset($2::json)
      as sent(date date, id uuid, revision integer, feedback text, "hustleScore" integer, "analyzedAt" timestamptz)
   where kept.user_id = $1::uuid and kept.date = sent.date and kept.id = sent.id and kept.revision = sent.revision
     and (kept.ai_analyzed_at < kept.updated_at) is not false`;

export function importEntries({ database, clock }: ImportDeps) {
  // Cleaning what other programs wrote is costly: few at once, and one request of each.
  const limiter = createConcurrencyLimiter({ maxUsers: 2, maxQueued: 50, maxQueuedPerUser: 4 });

  return async function importDays(context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> {
    if (userId === null || !(await isCallerPremium(database, identity))) {
      return answer(context, { success: false, error: MESSAGES.importIsPremium }, 403);
    }
    const entries = await entriesOf(context);
    if (entries === null) {
      return answer(context, { success: false, error: `Send one to ${IMPORT_MAX_ENTRIES} entries.` }, 400);
    }
    let end: (() => void) | null = null;
    try {
      end = await limiter.acquire(userId);
      const { writable, outcomes } = await readEntries(entries, latestToday(clock.now()));
      const written = new Map(
        [
          ...(await write(
            INSERT,
            writable.filter((day) => day.replaces === null),
          )),
          ...(await write(
            REPLACE,
            writable.filter((day) => day.replaces !== null),
          )),
        ].map(({ date, id, revision }) => [date, { id, revision }]),
      );
      const coached = writable.flatMap(({ date, coach }) => {
        const version = written.get(date);
        if (!coach || !version) return [];
        // Shown where the coach's own words are, so it has no more signs than they can have.
        const feedback = coach.feedback === null ? null : stripInvisible(coach.feedback);
        return [{ date, ...version, ...coach, feedback }];
      });
      if (coached.length > 0) {
        await database.asService('imported feedback').statement(COACH, [userId, JSON.stringify(coached)]);
      }
      for (const { date } of writable) outcomes.push({ date, outcome: written.has(date) ? 'written' : 'changed' });
      return answer(context, { success: true, outcomes });
    } catch (error) {
      if (!isRefusedByPolicy(error)) throw error;
      // The plan ended between the question and the write.
      return answer(context, { success: false, error: MESSAGES.importIsPremium }, 403);
    } finally {
      end?.();
    }

    async function write(sql: string, days: readonly Writable[]): Promise<Written[]> {
      if (days.length === 0) return [];
      const rows = days.map(({ date, content, replaces }) => ({ date, content, ...replaces }));
      return (await database.asUser(identity).statement<Written>(sql, [userId, JSON.stringify(rows)])).rows;
    }
  };
}

async function entriesOf(context: Context<AppEnv>): Promise<unknown[] | null> {
  const { entries } = await readBody(context);
  if (!Array.isArray(entries)) return null;
  return entries.length > 0 && entries.length <= IMPORT_MAX_ENTRIES ? entries : null;
}

async function readEntries(entries: readonly unknown[], lastDay: Day) {
  const writable: Writable[] = [];
  const outcomes: ImportOutcome[] = [];
  const dates = new Set<Day>();
  for (const entry of entries) {
    const read = readJsonEntry(entry);
    const refuse = (date: string, reason: Refusal) => void outcomes.push({ date, outcome: 'refused', reason });
    if (read.kind === 'refused') {
      refuse(read.label, read.reason);
      continue;
    }
    const replaces = replacesOf(entry);
    if (replaces === 'unreadable') refuse(read.day.date, 'notText');
    else if (read.day.date > lastDay) refuse(read.day.date, 'futureDay');
    else if (dates.has(read.day.date)) refuse(read.day.date, 'duplicateDay');
    else {
      dates.add(read.day.date);
      const content = cleaned(read.day.content);
      if (typeof content !== 'string') refuse(read.day.date, content.reason);
      else writable.push({ ...read.day, content, replaces });
      await setImmediate();
    }
  }
  return { writable, outcomes };
}

function replacesOf(entry: unknown): Version | null | 'unreadable' {
  const { replaces } = entry as { replaces?: unknown };
  if (replaces == null) return null;
  const { id, revision } = replaces as { id?: unknown; revision?: unknown };
  if (typeof id !== 'string' || !UUID.test(id)) return 'unreadable';
  const isRevision = typeof revision === 'number' && Number.isInteger(revision) && revision > 0;
  return isRevision && revision <= LARGEST_REVISION ? { id, revision } : 'unreadable';
}

function cleaned(content: string): string | { reason: Refusal } {
  try {
    const log = sanitizeLog(content);
    return isEmptyLog(log) ? { reason: 'empty' } : log;
  } catch (error) {
    const reason = error instanceof DataError ? REFUSAL_OF[error.code] : undefined;
    if (reason === undefined) throw error;
    return { reason };
  }
}

const isRefusedByPolicy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '42501';

function answer(context: Context<AppEnv>, body: ImportAnswer, status: ContentfulStatusCode = 200): Response {
  return context.json(body, status);
}
