/**
 * `list-imports`: the imports of the caller that can be undone. `undo-import` {importId}: takes back what an import has
 * written, some days at a time, until `remaining` is 0. Added logs are deleted, replaced logs get their earlier text, and
 * added feedback is cleared. A day that changed since stays as it is.
 *
 * As the service, because an import of a free user also wrote days that the plan does not open. Threat: the undo deletes
 * or restores other logs. Every statement names the caller, and `import_days`, which only the service writes, names the
 * row and the revision that the import left behind.
 */
import type { Context } from 'hono';
import type { Day } from '#domain/day/day.ts';
import type { ImportListAnswer, PastImport, UndoAnswer } from '#domain/export/import-wire.ts';
import { withDateHeaderSql } from '../data/sql/to-sql.ts';
import type { Database } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import type { Caller } from '../http/authenticate.ts';
import type { Limiters } from '../load/limiters.ts';
import { isImportId } from './import-entries.ts';
import { readBody } from './read-body.ts';

/** A restored log is up to 256 KB: some seconds on a small machine. */
const DAYS_PER_CALL = 50;

const LIST = `
  select import_id as id, min(written_at) as "writtenAt", count(*)::int as days
    from public.import_days where user_id = $1 group by import_id order by max(written_at) desc, import_id`;

const TAKE = `
  select date::text, entry_id as id, revision, change from public.import_days
   where user_id = $1 and import_id = $2 order by date limit ${DAYS_PER_CALL} for update`;

const UNDONE = 'json_to_recordset($2::json) as undone(date date, id uuid, revision integer)';
const IS_UNCHANGED =
  'entry.user_id = $1::uuid and entry.date = undone.date and entry.id = undone.id and entry.revision = undone.revision';

const REMOVE = `delete from public.entries as entry using ${UNDONE} where ${IS_UNCHANGED} returning entry.date`;

/** The text of a removed log is the file's: as a version it would only take space. */
const FORGET_VERSIONS = `
  delete from public.entry_versions as version using ${UNDONE}
   where version.user_id = $1::uuid and version.date = undone.date and version.entry_id = undone.id
     and version.replaced_by = 'deletion'`;

/** The newest version is what the import replaced, because the log is unchanged since. */
const RESTORE = `
  update public.entries as entry set content = ${withDateHeaderSql('entry.date', 'earlier.content')}
    from ${UNDONE} cross join lateral (
      select content from public.entry_versions
       where user_id = $1::uuid and date = undone.date and entry_id = undone.id order by kept_at desc limit 1) as earlier
   where ${IS_UNCHANGED} returning entry.date`;

/** Feedback that the coach has written since stays. */
const CLEAR_FEEDBACK = `
  update public.entries as entry set ai_feedback = null, hustle_score = null, ai_analyzed_at = null
    from ${UNDONE} where ${IS_UNCHANGED} and (entry.ai_analyzed_at >= entry.updated_at) is not true returning entry.date`;

const KEPT = `
  select entry.date from public.entries as entry
   where entry.user_id = $1 and entry.id in (select id from json_to_recordset($2::json) as undone(id uuid)) order by date`;

const FINISH = 'delete from public.import_days where user_id = $1 and import_id = $2 and date = any($3::date[])';
const REMAINING = 'select count(*)::int as count from public.import_days where user_id = $1 and import_id = $2';

type Change = 'added' | 'replaced' | 'feedback';
type Row = { date: Day; id: string; revision: number; change: Change };

const STATEMENTS: readonly [Change, string][] = [
  ['added', REMOVE],
  ['replaced', RESTORE],
  ['feedback', CLEAR_FEEDBACK],
];

type UndoDeps = { database: Database; limiters: Limiters };

export function listImports({ database }: UndoDeps) {
  return async function listOwnImports(context: Context<AppEnv>, { userId }: Caller): Promise<Response> {
    const { rows } = await database.asService('imports of a user').statement<PastImport>(LIST, [userId]);
    return context.json({ success: true, imports: rows } satisfies ImportListAnswer);
  };
}

export function undoImport({ database, limiters }: UndoDeps) {
  const limiter = limiters.createLimiter('undone imports', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 50,
    maxQueuedPerClient: 4,
  });

  return async function undoOwnImport(context: Context<AppEnv>, { userId }: Caller): Promise<Response> {
    const { importId } = await readBody(context);
    if (!isImportId(importId)) {
      return context.json({ success: false, error: 'The importId must be a UUID.' } satisfies UndoAnswer, 400);
    }
    const release = await limiter.acquire();
    try {
      return context.json((await undoStep(importId)) satisfies UndoAnswer);
    } finally {
      release();
    }

    async function undoStep(id: string): Promise<UndoAnswer> {
      return database.transactAsService('undo an import of a user', async (service) => {
        const { rows } = await service.statement<Row>(TAKE, [userId, id]);
        const undone = new Set<Day>();
        for (const [change, sql] of STATEMENTS) {
          const days = rows.filter((row) => row.change === change);
          if (days.length === 0) continue;
          const result = await service.statement<{ date: Day }>(sql, [userId, JSON.stringify(days)]);
          for (const { date } of result.rows) undone.add(date);
        }
        const isUndone = ({ date }: Row): boolean => undone.has(date);
        const removed = rows.filter((row) => row.change === 'added' && isUndone(row));
        if (removed.length > 0) await service.statement(FORGET_VERSIONS, [userId, JSON.stringify(removed)]);
        const others = JSON.stringify(rows.filter((row) => !isUndone(row)));
        const kept = await service.statement<{ date: Day }>(KEPT, [userId, others]);
        await service.statement(FINISH, [userId, id, rows.map(({ date }) => date)]);
        const remaining = await service.statement<{ count: number }>(REMAINING, [userId, id]);
        return {
          success: true,
          undone: undone.size,
          kept: kept.rows.map(({ date }) => date),
          remaining: remaining.rows[0]?.count ?? 0,
        };
      });
    }
  };
}
