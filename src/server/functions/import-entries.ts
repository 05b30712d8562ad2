/**
 * `import-entries` {entries}: writes days of an imported file (docs/decisions/0012). Logs are written as the user,
 * under the same policies as every save. The coach's columns, which clients cannot write, are written as the service:
 * only in rows of that user whose log this request has written.
 *
 * An entry names the version that it replaces, or null for a day without a log, so an import overwrites no unseen
 * change.
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
import type { WriteQuota } from '../data/write-quota.ts';
import { withDateHeaderSql } from '../data/sql/to-sql.ts';
import type { Limiters } from '../load/limiters.ts';
import { PERMISSION_DENIED, sqlStateOf } from '../database/database-error.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import { isCallerPremium } from '../plans/is-caller-premium.ts';
import { readBody } from './read-body.ts';

type ImportDeps = { database: Database; clock: Clock; limiters: Limiters; writeQuota: WriteQuota };

/** A validated day: its log is sanitized and not empty, and its date is not in the future. */
type WritableDay = ImportedDay & { replaces: Version | null };
type WrittenDay = Version & { date: Day };

const REFUSAL_BY_CODE: Readonly<Record<string, Refusal>> = { '54000': 'tooLong', '54001': 'tooDeep' };
const MAX_REVISION = 2 ** 31 - 1;

const INSERT = `
  insert into public.entries (user_id, date, content)
  select $1::uuid, sent.date, ${withDateHeaderSql('sent.date', 'sent.content')}
    from json_to_recordset($2::json) as sent(date date, content text)
  on conflict (user_id, date) do nothing
  returning date, id, revision`;

/** The setting makes `follow_entry` keep the replaced text as a version, however young the log is. */
const REPLACE = `
  update public.entries as entry set content = ${withDateHeaderSql('entry.date', 'sent.content')}
    from (select set_config('hustle_forge.keeps_version', 'on', true) as value) as setting,
         json_to_recordset($2::json) as sent(date date, content text, id uuid, revision integer)
   where setting.value = 'on' and entry.user_id = $1::uuid and entry.date = sent.date and entry.id = sent.id and entry.revision = sent.revision
  returning entry.date, entry.id, entry.revision`;

/**
 * Dates imported feedback before the row's last change, so that the page shows it as outdated: a file can claim that any
 * text is current feedback on this log. Never replaces current feedback, which the coach may have written since the file
 * was compared.
 */
const WRITE_FEEDBACK = `
  update public.entries as entry
     set ai_feedback = sent.feedback, hustle_score = sent."hustleScore",
         ai_analyzed_at = case when sent."analyzedAt" is null then null
                               else least(sent."analyzedAt", entry.updated_at - interval '1 millisecond') end
    from json_to_recordset($2::json)
      as sent(date date, id uuid, revision integer, feedback text, "hustleScore" integer, "analyzedAt" timestamptz)
   where entry.user_id = $1::uuid and entry.date = sent.date and entry.id = sent.id and entry.revision = sent.revision
     and (entry.ai_analyzed_at < entry.updated_at) is not false`;

export function importEntries({ database, clock, limiters, writeQuota }: ImportDeps) {
  // Cleaning foreign HTML is expensive: few users at a time, one request per user.
  const limiter = limiters.createLimiter('imports', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 50,
    maxQueuedPerClient: 4,
  });

  return async function importDays(context: Context<AppEnv>, { identity, userId }: Caller): Promise<Response> {
    if (userId === null || !(await isCallerPremium(database, identity))) {
      return answer(context, { success: false, error: MESSAGES.importIsPremium }, 403);
    }
    writeQuota.check(userId);
    const entries = await readEntryList(context);
    if (entries === null) {
      return answer(context, { success: false, error: `Send one to ${IMPORT_MAX_ENTRIES} entries.` }, 400);
    }
    let release: (() => void) | null = null;
    try {
      release = await limiter.acquire();
      await writeQuota.spend(userId, Buffer.byteLength(JSON.stringify(entries)));
      const { writable, outcomes } = await validateEntries(entries, latestToday(clock.now()));
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
      const feedbacks = writable.flatMap(({ date, coach }) => {
        const version = written.get(date);
        if (!coach || !version) return [];
        // Imported feedback is displayed like the coach's own feedback, so it gets the same character filter.
        const feedback = coach.feedback === null ? null : stripInvisible(coach.feedback);
        return [{ date, ...version, ...coach, feedback }];
      });
      if (feedbacks.length > 0) {
        await database.asService('import feedback').statement(WRITE_FEEDBACK, [userId, JSON.stringify(feedbacks)]);
      }
      for (const { date } of writable) outcomes.push({ date, outcome: written.has(date) ? 'written' : 'changed' });
      return answer(context, { success: true, outcomes });
    } catch (error) {
      if (sqlStateOf(error) !== PERMISSION_DENIED) throw error;
      // The plan ended between the check and the write.
      return answer(context, { success: false, error: MESSAGES.importIsPremium }, 403);
    } finally {
      release?.();
    }

    async function write(sql: string, days: readonly WritableDay[]): Promise<WrittenDay[]> {
      if (days.length === 0) return [];
      const rows = days.map(({ date, content, replaces }) => ({ date, content, ...replaces }));
      return (await database.asUser(identity).statement<WrittenDay>(sql, [userId, JSON.stringify(rows)])).rows;
    }
  };
}

async function readEntryList(context: Context<AppEnv>): Promise<unknown[] | null> {
  const { entries } = await readBody(context);
  if (!Array.isArray(entries)) return null;
  return entries.length > 0 && entries.length <= IMPORT_MAX_ENTRIES ? entries : null;
}

async function validateEntries(entries: readonly unknown[], lastDay: Day) {
  const writable: WritableDay[] = [];
  const outcomes: ImportOutcome[] = [];
  const dates = new Set<Day>();
  for (const entry of entries) {
    const read = readJsonEntry(entry);
    const refuse = (date: string, reason: Refusal) => void outcomes.push({ date, outcome: 'refused', reason });
    if (read.kind === 'refused') {
      refuse(read.label, read.reason);
      continue;
    }
    const replaces = readReplacedVersion(entry);
    if (replaces === 'unreadable') refuse(read.day.date, 'notText');
    else if (read.day.date > lastDay) refuse(read.day.date, 'futureDay');
    else if (dates.has(read.day.date)) refuse(read.day.date, 'duplicateDay');
    else {
      dates.add(read.day.date);
      const content = cleanContent(read.day.content);
      if (typeof content !== 'string') refuse(read.day.date, content.reason);
      else writable.push({ ...read.day, content, replaces });
      await setImmediate();
    }
  }
  return { writable, outcomes };
}

function readReplacedVersion(entry: unknown): Version | null | 'unreadable' {
  const { replaces } = entry as { replaces?: unknown };
  if (replaces == null) return null;
  const { id, revision } = replaces as { id?: unknown; revision?: unknown };
  if (typeof id !== 'string' || !UUID.test(id)) return 'unreadable';
  const isRevision = typeof revision === 'number' && Number.isInteger(revision) && revision > 0;
  return isRevision && revision <= MAX_REVISION ? { id, revision } : 'unreadable';
}

function cleanContent(content: string): string | { reason: Refusal } {
  try {
    const log = sanitizeLog(content);
    return isEmptyLog(log) ? { reason: 'empty' } : log;
  } catch (error) {
    const reason = error instanceof DataError ? REFUSAL_BY_CODE[error.code] : undefined;
    if (reason === undefined) throw error;
    return { reason };
  }
}

function answer(context: Context<AppEnv>, body: ImportAnswer, status: ContentfulStatusCode = 200): Response {
  return context.json(body, status);
}
