/** Deletes earlier versions of logs, and the records that undo an import with them, after 30 days. `follow_entry` (database/schema.sql) limits their number. */
import { VERSION_DAYS } from '#domain/log/entry-version.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { BATCH_ROWS, runInBatches } from '../jobs/run-in-batches.ts';

const DELETE_BATCH = `
  delete from public.entry_versions
   where (user_id, date, id) in (select user_id, date, id from public.entry_versions where kept_at <= $1 limit ${BATCH_ROWS})`;

const DELETE_IMPORT_DAYS = `
  delete from public.import_days
   where (user_id, import_id, date) in (
     select user_id, import_id, date from public.import_days where written_at <= $1 limit ${BATCH_ROWS})`;

/** Returns the number of deleted versions and records. */
export async function purgeVersions(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  const limit = new Date(clock.now().getTime() - VERSION_DAYS * 24 * 3_600_000);
  const service = database.asService('purge versions');
  const versions = await runInBatches(service, DELETE_BATCH, [limit], signal);
  return versions + (await runInBatches(service, DELETE_IMPORT_DAYS, [limit], signal));
}
