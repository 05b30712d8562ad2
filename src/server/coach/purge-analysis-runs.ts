/** Deletes the counted tries of earlier days. The next analysis of a user does so too, but may never come. */
import type { AsService } from '../database/database.ts';
import { BATCH_ROWS, runInBatches } from '../jobs/run-in-batches.ts';

/** Excludes the tries of today, which count towards the daily limit, and claims whose lease has not expired. */
const IS_OVER = `counted_on < ($1::timestamptz at time zone 'UTC')::date and lease_until <= $1`;
/** The condition twice: another claim may have taken the row since the inner select. */
const DELETE_BATCH = `
  delete from public.analysis_runs
   where ${IS_OVER} and (user_id, kind, key) in (
     select user_id, kind, key from public.analysis_runs where ${IS_OVER} limit ${BATCH_ROWS})`;

/** Returns the number of deleted rows. */
export function purgeAnalysisRuns(service: AsService, now: Date, signal: AbortSignal): Promise<number> {
  return runInBatches(service, DELETE_BATCH, [now], signal);
}
