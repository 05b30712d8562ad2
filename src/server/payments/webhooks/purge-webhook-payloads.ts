/**
 * Purges the payloads of old PayPal webhooks: they hold the payer's name and address. The rows stay, because a repeated
 * event is recognised by its id.
 */
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

/** 180 days: as long as money may be returned, a person may have to look up the events. */
const PAYLOAD_RETENTION_MS = 180 * 24 * 60 * 60_000;

/** Returns the number of purged payloads. */
export async function purgeWebhookPayloads(database: Database, clock: Clock): Promise<number> {
  const emptied = await database.asService('purge webhook payloads').run(
    queryBuilder
      .updateTable('payment_events')
      .set({ raw: '' })
      .where('received_at', '<', new Date(clock.now().getTime() - PAYLOAD_RETENTION_MS))
      .where('raw', '!=', '')
      .returning('id'),
  );
  return emptied.length;
}
