/**
 * Purges the payloads of old PayPal webhooks: they hold the payer's name and address. The rows stay, because a repeated
 * event is recognised by its id.
 */
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { BATCH_ROWS, runInBatches } from '#server/jobs/run-in-batches.ts';

/** 180 days, the period in which money may be returned: an operator may have to read the events of such a payment. */
const PAYLOAD_RETENTION_MS = 180 * 24 * 60 * 60_000;

const EMPTY_BATCH = `
  update public.payment_events set raw = ''
   where id in (select id from public.payment_events where received_at < $1 and raw <> '' limit ${BATCH_ROWS})`;

/** Returns the number of purged payloads. */
export async function purgeWebhookPayloads(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  const limit = new Date(clock.now().getTime() - PAYLOAD_RETENTION_MS);
  return runInBatches(database.asService('purge webhook payloads'), EMPTY_BATCH, [limit], signal);
}
