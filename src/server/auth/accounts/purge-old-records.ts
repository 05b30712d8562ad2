/** Deletes audit rows and unused sessions after 400 days (docs/operations/data-growth.md). */
import type { AsService } from '#server/database/database.ts';
import { BATCH_ROWS } from '#server/jobs/run-in-batches.ts';

/**
 * The longest time that browsers keep a cookie, and longer than security events are commonly kept. The SQL function
 * `auth.purge_audit_log` repeats the number, so that the server cannot delete newer audit rows.
 */
const RETENTION_DAYS = 400;

/**
 * Reads the sessions in the order of their ids, a page in each statement. An index on the time of the last renewal would
 * find the old ones faster, but each renewal would have to write it: no update of the table could be HOT any more.
 */
const PURGE_PAGE = `
  with page as (select id from auth.sessions where id > $1 order by id limit ${BATCH_ROWS}),
  deleted as (
    delete from auth.sessions as session using page
     where session.id = page.id and coalesce(refreshed_at, created_at) <= $2
    returning session.id)
  select (select id from page order by id desc limit 1) as last, (select count(*)::int from deleted) as deleted`;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Returns the number of deleted sessions. A session that is renewed meanwhile stays. */
export async function purgeUnusedSessions(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  const limit = new Date(now.getTime() - RETENTION_DAYS * 24 * 3_600_000);
  let deleted = 0;
  for (let last: string | null = FIRST_ID; last !== null && !signal.aborted;) {
    const { rows }: { rows: { last: string | null; deleted: number }[] } = await service.statement(PURGE_PAGE, [
      last,
      limit,
    ]);
    deleted += rows[0]!.deleted;
    last = rows[0]!.last;
  }
  return deleted;
}

/** Returns the number of deleted rows. */
export async function purgeAuditLog(service: AsService, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rows } = await service.statement<{ count: number }>('select auth.purge_audit_log($1) as count', [
      BATCH_ROWS,
    ]);
    const { count } = rows[0]!;
    deleted += count;
    if (count < BATCH_ROWS || signal.aborted) return deleted;
  }
}
