/**
 * `list-imports`: the imports of the caller that can be undone. `undo-import` {importId}: takes back what an import has
 * written, some days at a time, until `remaining` is 0. Added logs are deleted, filled ones emptied, replaced ones get
 * their earlier text, and all of them their earlier feedback. A day that changed since stays as it is.
 *
 * It runs as the service, because an import of a free user also wrote days that the plan does not open. Threat: the
 * undo deletes or restores other logs. Every statement names the caller, and `import_days`, which only the service
 * writes, names the row and the revision that the import left behind.
 */
import type { Context } from 'hono';
import type { Day } from '#domain/day/day.ts';
import type { ImportListAnswer, PastImport, UndoAnswer } from '#domain/journals/import-plan.ts';
import { withDateHeaderSql } from '../data/to-sql.ts';
import type { WriteQuota } from '../data/write-quota.ts';
import type { Database } from '../database/database.ts';
import { isImportId } from './import-entries.ts';
import { FunctionError, readBody } from './function-request.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { SignedInCaller } from '../http/authenticate.ts';
import type { Limiters } from '../load/limiters.ts';

/** Restoring this many logs of 256 KB takes some seconds on a small machine. */
const DAYS_PER_CALL = 50;

const LIST = `
  select import_id as id, min(written_at) as "writtenAt", count(*)::int as days, max(program) as program
    from public.import_days where user_id = $1 group by import_id order by max(written_at) desc, import_id`;

const TAKE = `
  select date::text, entry_id as id, revision, change, earlier_coach as coach from public.import_days
   where user_id = $1 and import_id = $2 order by date limit ${DAYS_PER_CALL} for update`;

const UNDONE = 'json_to_recordset($2::json) as undone(date date, id uuid, revision integer, coach jsonb)';
const IS_UNCHANGED =
  'entry.user_id = $1::uuid and entry.date = undone.date and entry.id = undone.id and entry.revision = undone.revision';

const REMOVE = `delete from public.entries as entry using ${UNDONE} where ${IS_UNCHANGED} returning entry.date`;

const EMPTY = `update public.entries as entry set content = '' from ${UNDONE} where ${IS_UNCHANGED} returning entry.date`;

/** The days whose imported text the user had written and deleted before: the version stays, because it is theirs. */
const HAD_VERSION = `
  select entry.date from public.entries as entry, ${UNDONE}
   where ${IS_UNCHANGED} and exists (
     select from public.entry_versions as version
      where version.user_id = $1::uuid and version.date = entry.date
        and version.content in (entry.content, public.without_date_header(entry.content)))`;

/** Deletes the versions that this transaction has made of removed texts: they are in the imported file. */
const FORGET_VERSIONS = `
  delete from public.entry_versions as version using ${UNDONE}
   where version.user_id = $1::uuid and version.date = undone.date and version.entry_id = undone.id
     and version.kept_at >= now()`;

/** The newest version is what the import replaced, because the log is unchanged since. */
const RESTORE = `
  update public.entries as entry set content = ${withDateHeaderSql('entry.date', 'earlier.content')}
    from ${UNDONE} cross join lateral (
      select content from public.entry_versions
       where user_id = $1::uuid and date = undone.date and entry_id = undone.id order by kept_at desc limit 1) as earlier
   where ${IS_UNCHANGED} returning entry.date`;

/** Feedback that the coach has written since stays. */
const RESTORE_COACH = `
  update public.entries as entry
     set ai_feedback = undone.coach->>'feedback', hustle_score = (undone.coach->>'score')::integer,
         ai_analyzed_at = (undone.coach->>'analyzedAt')::timestamptz
    from ${UNDONE}
   where ${IS_UNCHANGED} and undone.coach is not null and (entry.ai_analyzed_at >= entry.updated_at) is not true
  returning entry.date`;

/** The bytes of the texts that the next call restores. */
const RESTORED_BYTES = `
  select coalesce(sum(octet_length(earlier.content)), 0)::int as bytes
    from (select date, entry_id from public.import_days
           where user_id = $1 and import_id = $2 and change = 'replaced' order by date limit ${DAYS_PER_CALL}) as day
    cross join lateral (
      select content from public.entry_versions
       where user_id = $1 and date = day.date and entry_id = day.entry_id order by kept_at desc limit 1) as earlier`;

const KEPT = `
  select entry.date from public.entries as entry
   where entry.user_id = $1 and entry.id in (select id from json_to_recordset($2::json) as undone(id uuid)) order by date`;

const FINISH = 'delete from public.import_days where user_id = $1 and import_id = $2 and date = any($3::date[])';
const REMAINING = 'select count(*)::int as count from public.import_days where user_id = $1 and import_id = $2';

type TextChange = 'added' | 'filled' | 'replaced';
type Row = { date: Day; id: string; revision: number; change: TextChange | 'feedback'; coach: object | null };

const STATEMENTS: readonly [TextChange, string][] = [
  ['added', REMOVE],
  ['filled', EMPTY],
  ['replaced', RESTORE],
];

type UndoDeps = { database: Database; limiters: Limiters; writeQuota: WriteQuota };

export function listImports({ database }: Pick<UndoDeps, 'database'>) {
  return async function listOwnImports(context: Context<AppEnv>, { userId }: SignedInCaller): Promise<Response> {
    const { rows } = await database.asService('imports of a user').statement<PastImport>(LIST, [userId]);
    return context.json({ success: true, imports: rows } satisfies ImportListAnswer);
  };
}

const UNDOS = { maxRunning: 2, maxPerClient: 1, maxQueued: 50, maxQueuedPerClient: 4 };

export function undoImport({ database, limiters, writeQuota }: UndoDeps) {
  const limiter = limiters.createLimiter('undone imports', UNDOS);

  return async function undoOwnImport(context: Context<AppEnv>, { userId }: SignedInCaller): Promise<Response> {
    writeQuota.check(userId);
    const { importId } = await readBody(context);
    if (!isImportId(importId)) throw new FunctionError(400, 'The importId must be a UUID.');
    const release = await limiter.acquire();
    try {
      const size = await database
        .asService('size of an undo')
        .statement<{ bytes: number }>(RESTORED_BYTES, [userId, importId]);
      await writeQuota.spend(userId, size.rows[0]!.bytes);
      return context.json((await undoStep(importId)) satisfies UndoAnswer);
    } finally {
      release();
    }

    async function undoStep(id: string): Promise<UndoAnswer> {
      return database.transactAsService('undo an import of a user', async (service) => {
        const { rows } = await service.statement<Row>(TAKE, [userId, id]);
        const all = [userId, JSON.stringify(rows)];
        const kept = await service.statement<{ date: Day }>(HAD_VERSION, all);
        const hadVersion = new Set(kept.rows.map(({ date }) => date));
        const restored = await service.statement<{ date: Day }>(RESTORE_COACH, all);
        const isFeedback = ({ change }: Row): boolean => change === 'feedback';
        const feedbacks = new Set(rows.filter(isFeedback).map(({ date }) => date));
        const undone = new Set(restored.rows.map(({ date }) => date).filter((date) => feedbacks.has(date)));
        for (const [change, sql] of STATEMENTS) {
          const days = rows.filter((row) => row.change === change);
          if (days.length === 0) continue;
          const result = await service.statement<{ date: Day }>(sql, [userId, JSON.stringify(days)]);
          for (const { date } of result.rows) undone.add(date);
        }
        const isUndone = ({ date }: Row): boolean => undone.has(date);
        const isOfFile = ({ change, date }: Row): boolean =>
          (change === 'added' || change === 'filled') && !hadVersion.has(date);
        const removed = rows.filter((row) => isOfFile(row) && isUndone(row));
        if (removed.length > 0) await service.statement(FORGET_VERSIONS, [userId, JSON.stringify(removed)]);
        const others = JSON.stringify(rows.filter((row) => !isUndone(row)));
        const changed = await service.statement<{ date: Day }>(KEPT, [userId, others]);
        await service.statement(FINISH, [userId, id, rows.map(({ date }) => date)]);
        const remaining = await service.statement<{ count: number }>(REMAINING, [userId, id]);
        return {
          success: true,
          undone: undone.size,
          kept: changed.rows.map(({ date }) => date),
          remaining: remaining.rows[0]!.count,
        };
      });
    }
  };
}
