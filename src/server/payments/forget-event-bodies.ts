/**
 * Empties what PayPal's webhooks said, once nothing can be asked of it any more: it holds the payer's name and address.
 * The rows stay, because an event is known by its id, also when it is told again.
 */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sqlFor } from '../database/sql-for.ts';

/** As long as money may go back, and somebody may have to see how it came. */
const BODY_KEPT_MS = 180 * 24 * 60 * 60_000;

/** Answers how many. */
export async function forgetEventBodies(database: Database, clock: Clock): Promise<number> {
  const emptied = await database.asService('old events').run(
    sqlFor
      .updateTable('payment_events')
      .set({ raw: '' })
      .where('received_at', '<', new Date(clock.now().getTime() - BODY_KEPT_MS))
      .where('raw', '!=', '')
      .returning('id'),
  );
  return emptied.length;
}
