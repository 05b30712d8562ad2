/**
 * `import-entries` {importId, program, entries}: writes days of imported files (docs/decisions/0012), on every plan.
 * Logs are written as the user, under the same policies as every save. Days that the plan does not open are inserted as
 * the service: only for that user, and only where the day has no log. The coach's columns, which clients cannot write,
 * are written as the service too: only in rows of that user whose log this request has written.
 *
 * Threat: a free user reads or changes locked logs through an import. The answer says of a locked day only whether it
 * has a log, which the user's own list of dates says as well.
 *
 * An entry names the version that it replaces, or null for a day without a log, so an import overwrites no unseen
 * change.
 */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'hono';
import { isBefore, latestToday, type Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import { withoutControls } from '#domain/log/entry-html.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { ImportedDay, Refusal } from '#domain/exported-entry.ts';
import {
  IMPORT_MAX_ENTRIES,
  MAX_PROGRAM_LENGTH,
  MAX_UNDOABLE_IMPORTS,
  type ImportAnswer,
  type ImportOutcome,
} from '#domain/journals/import-plan.ts';
import { readJsonEntry } from '#domain/export/formats/json-format.ts';
import { UUID } from '../auth/keys/access-tokens.ts';
import type { Clock } from '../clock.ts';
import { stripInvisible } from '#domain/strip-invisible.ts';
import { sanitizeLog } from '../data/sanitize-log.ts';
import { DataError } from '../data/errors.ts';
import type { WriteQuota } from '../data/write-quota.ts';
import { withDateHeaderSql } from '../data/to-sql.ts';
import type { Limiters } from '../load/limiters.ts';
import { PERMISSION_DENIED, sqlStateOf } from '../database/database-error.ts';
import type { Database, Statements } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import { FunctionError, readBody } from './function-request.ts';

type ImportDeps = { database: Database; clock: Clock; limiters: Limiters; writeQuota: WriteQuota };

/** A validated day: its log is sanitized and not empty, and its date is not in the future. */
type WritableDay = ImportedDay & { replaces: Version | null };
/** `wasEmpty`: the log that was replaced had no text. */
type WrittenDay = Version & { date: Day; wasEmpty: boolean };

type Written = ReadonlyMap<Day, Omit<WrittenDay, 'date'>>;

const REFUSAL_BY_CODE: Readonly<Record<string, Refusal>> = { '54000': 'tooLong', '54001': 'tooDeep' };
const MAX_REVISION = 2 ** 31 - 1;

const INSERT = `
  insert into public.entries (user_id, date, content)
  select $1::uuid, sent.date, ${withDateHeaderSql('sent.date', 'sent.content')}
    from json_to_recordset($2::json) as sent(date date, content text)
  on conflict (user_id, date) do nothing
  returning date, id, revision, false as "wasEmpty"`;

/** The setting makes `follow_entry` keep the replaced text as a version, however young the log is. */
const REPLACE = `
  update public.entries as entry set content = ${withDateHeaderSql('entry.date', 'sent.content')}
    from (select set_config('hustle_forge.keeps_version', 'on', true) as value) as setting,
         json_to_recordset($2::json) as sent(date date, content text, id uuid, revision integer)
         join public.entries as earlier on earlier.user_id = $1::uuid and earlier.id = sent.id
   where setting.value = 'on' and entry.user_id = $1::uuid and entry.date = sent.date and entry.id = sent.id and entry.revision = sent.revision
  returning entry.date, entry.id, entry.revision, earlier.content_text = '' as "wasEmpty"`;

/**
 * The size of the texts that become versions, which counts as written. Threat: a few bytes that replace large logs,
 * again and again, fill the write-ahead log.
 */
const REPLACED_BYTES = `
  select coalesce(sum(octet_length(entry.content)), 0)::int as bytes
    from public.entries as entry, json_to_recordset($2::json) as sent(id uuid, revision integer)
   where entry.user_id = $1::uuid and entry.id = sent.id and entry.revision = sent.revision`;

/**
 * Dates imported feedback before the row's last change, so that the page shows it as outdated: a file can claim that
 * any text is current feedback on this log. Never replaces current feedback, which the coach may have written since the
 * file was compared.
 */
const WRITE_FEEDBACK = `
  update public.entries as entry
     set ai_feedback = sent.feedback, hustle_score = sent."hustleScore",
         ai_analyzed_at = case when sent."analyzedAt" is null then null
                               else least(sent."analyzedAt", entry.updated_at - interval '1 millisecond') end
    from json_to_recordset($2::json)
      as sent(date date, id uuid, revision integer, feedback text, "hustleScore" integer, "analyzedAt" timestamptz)
      join public.entries as earlier on earlier.user_id = $1::uuid and earlier.id = sent.id
   where entry.user_id = $1::uuid and entry.date = sent.date and entry.id = sent.id and entry.revision = sent.revision
     and (entry.ai_analyzed_at < entry.updated_at) is not false
  returning entry.date, json_build_object(
    'feedback', earlier.ai_feedback, 'score', earlier.hustle_score, 'analyzedAt', earlier.ai_analyzed_at) as coach`;

/**
 * The first day that the plan opens; null if it opens all. The database answers, so there is one rule and one clock.
 */
const FIRST_OPEN_DAY = 'select case when not public.is_premium() then public.first_free_day()::text end as first';

/** Bounds the rows of a user: before a new import is recorded, the oldest ones are deleted. */
const FORGET_OLD_IMPORTS = `
  delete from public.import_days
   where user_id = $1 and not exists (select from public.import_days where user_id = $1 and import_id = $2)
     and import_id in (
       select import_id from public.import_days where user_id = $1
        group by import_id order by max(written_at) desc, import_id offset ${MAX_UNDOABLE_IMPORTS - 1})`;

/** A day has a row already if the request is repeated, or if its log was deleted and the import wrote it again. */
const RECORD_DAYS = `
  insert into public.import_days (user_id, import_id, date, entry_id, revision, change, earlier_coach, program)
  select $1::uuid, $2::uuid, sent.date, sent.id, sent.revision, sent.change, sent.coach, $4
    from json_to_recordset($3::json) as sent(date date, id uuid, revision integer, change text, coach jsonb)
  on conflict (user_id, import_id, date) do update
    set entry_id = excluded.entry_id, revision = excluded.revision, change = excluded.change,
        earlier_coach = excluded.earlier_coach`;

/** The plan ended, or a day became locked, between the check and the write. */
class PlanChangedError extends Error {
  override name = 'PlanChangedError';
}

const IMPORTS = { maxRunning: 2, maxPerClient: 1, maxQueued: 50, maxQueuedPerClient: 4 };

export function importEntries({ database, clock, limiters, writeQuota }: ImportDeps) {
  // Cleaning foreign HTML is expensive: few users at a time, one request per user.
  const limiter = limiters.createLimiter('imports', IMPORTS);

  return async function importDays(context: Context<AppEnv>, { identity, userId }: SignedInCaller): Promise<Response> {
    writeQuota.check(userId);
    const { entries, importId = null, program = null } = await readBody(context);
    if (!Array.isArray(entries) || entries.length === 0 || entries.length > IMPORT_MAX_ENTRIES) {
      throw new FunctionError(400, `Send one to ${IMPORT_MAX_ENTRIES} entries.`);
    }
    if (importId !== null && !isImportId(importId)) {
      throw new FunctionError(400, 'The importId must be a UUID.');
    }
    if (program !== null && typeof program !== 'string') throw new FunctionError(400, 'The program must be a text.');
    const user = database.asUser(identity);
    const service = database.asService('import of a user');
    const programName = program && withoutControls(program).toWellFormed().slice(0, MAX_PROGRAM_LENGTH).toWellFormed();
    let release: (() => void) | null = null;
    try {
      release = await limiter.acquire();
      await writeQuota.spend(userId, Buffer.byteLength(JSON.stringify(entries)));
      const { writable, outcomes } = await validateEntries(entries, latestToday(clock.now()));
      await spendReplaced(writable);
      const { written, refused } = await writeDays(writable).catch((error: unknown) => {
        if (error instanceof PlanChangedError) return writeDays(writable);
        throw error;
      });
      const earlierCoach = await writeFeedback(writable, written);
      if (importId !== null) await recordDays(importId, writable, written, earlierCoach);
      for (const { date } of writable) {
        if (refused.has(date)) outcomes.push({ date, outcome: 'refused', reason: 'locked' });
        else outcomes.push({ date, outcome: written.has(date) ? 'written' : 'changed' });
      }
      return context.json({ success: true, outcomes } satisfies ImportAnswer);
    } finally {
      release?.();
    }

    async function spendReplaced(days: readonly WritableDay[]): Promise<void> {
      const replaced = days.flatMap(({ replaces }) => replaces ?? []);
      if (replaced.length === 0) return;
      const { rows } = await user.statement<{ bytes: number }>(REPLACED_BYTES, [userId, JSON.stringify(replaced)]);
      await writeQuota.spend(userId, rows[0]!.bytes);
    }

    async function writeDays(days: readonly WritableDay[]) {
      const { rows } = await user.statement<{ first: Day | null }>(FIRST_OPEN_DAY, []);
      const { first } = rows[0]!;
      const isLocked = ({ date }: WritableDay): boolean => first !== null && isBefore(date, first);
      const locked = days.filter(isLocked);
      const open = days.filter((one) => !isLocked(one));
      const isNew = ({ replaces }: WritableDay): boolean => replaces === null;
      try {
        const written = [
          ...(await write(user, INSERT, open.filter(isNew))),
          ...(await write(
            user,
            REPLACE,
            open.filter((one) => !isNew(one)),
          )),
          ...(await write(service, INSERT, locked.filter(isNew))),
        ];
        return {
          written: new Map(written.map(({ date, ...day }): [Day, Omit<WrittenDay, 'date'>] => [date, day])),
          refused: new Set(locked.filter((one) => !isNew(one)).map(({ date }) => date)),
        };
      } catch (error) {
        throw sqlStateOf(error) === PERMISSION_DENIED ? new PlanChangedError('', { cause: error }) : error;
      }
    }

    async function write(as: Statements, sql: string, days: readonly WritableDay[]): Promise<WrittenDay[]> {
      if (days.length === 0) return [];
      const rows = days.map(({ date, content, replaces }) => ({ date, content, ...replaces }));
      return (await as.statement<WrittenDay>(sql, [userId, JSON.stringify(rows)])).rows;
    }

    /** Returns what the feedback has replaced. */
    async function writeFeedback(days: readonly WritableDay[], written: Written): Promise<ReadonlyMap<Day, object>> {
      const feedbacks = days.flatMap(({ date, coach }) => {
        const version = written.get(date);
        if (!coach || !version) return [];
        // Imported feedback is displayed like the coach's own feedback, so it gets the same character filter.
        const feedback = coach.feedback === null ? null : stripInvisible(coach.feedback);
        return [{ date, ...version, ...coach, feedback }];
      });
      if (feedbacks.length === 0) return new Map();
      const parameters = [userId, JSON.stringify(feedbacks)];
      const { rows } = await service.statement<{ date: Day; coach: object }>(WRITE_FEEDBACK, parameters);
      return new Map(rows.map(({ date, coach }) => [date, coach]));
    }

    /** Called after the write: a row for a version that does not exist yet could match a later edit of the user. */
    async function recordDays(
      id: string,
      days: readonly WritableDay[],
      written: Written,
      earlierCoach: ReadonlyMap<Day, object>,
    ) {
      const rows = days.flatMap(({ date, replaces }) => {
        const day = written.get(date);
        if (!day) return [];
        const { wasEmpty, ...version } = day;
        const isSame = replaces?.revision === version.revision;
        const change = replaces === null ? 'added' : wasEmpty ? 'filled' : isSame ? 'feedback' : 'replaced';
        return [{ date, ...version, change, coach: earlierCoach.get(date) ?? null }];
      });
      if (rows.length === 0) return;
      await service.statement(FORGET_OLD_IMPORTS, [userId, id]);
      await service.statement(RECORD_DAYS, [userId, id, JSON.stringify(rows), programName]);
    }
  };
}

export const isImportId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

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
