/**
 * The rows of `push_subscriptions`. The columns that a user reads come from /rest/v1, where a user also removes a
 * device.
 *
 * Threat: a user who has learnt the endpoint of another user's browser subscribes with it, and the other gets no
 * reminders any more. An endpoint moves to another user only with the keys of its browser: then it is the same browser.
 */
import { ECDH } from 'node:crypto';
import { createMailToken, parseMailToken } from '../habit/mail-tokens.ts';
import type { AsService } from '../database/database.ts';
import type { PushTarget } from './web-push.ts';

const MAX_ENDPOINT_LENGTH = 2_000;
const KEY_BYTES = 65;
const SECRET_BYTES = 16;

/** Reads `PushSubscription.toJSON()`; null for anything that no browser makes. */
export function readSubscription(value: unknown): PushTarget | null {
  const { endpoint, keys } = (value ?? {}) as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  if (typeof endpoint !== 'string' || endpoint.length > MAX_ENDPOINT_LENGTH) return null;
  const [p256dh, auth] = [keys?.p256dh, keys?.auth].map((key) =>
    typeof key === 'string' && key.length <= 200 ? Buffer.from(key, 'base64url') : null,
  );
  if (p256dh?.length !== KEY_BYTES || auth?.length !== SECRET_BYTES) return null;
  try {
    // Throws if it is not a point of the curve.
    ECDH.convertKey(p256dh, 'prime256v1');
  } catch {
    return null;
  }
  return { endpoint, p256dh, auth };
}

type NewDevice = { userId: string; sessionId: string; device: string; target: PushTarget };

/** Requires a transaction. Null if the endpoint belongs to another browser. A trigger limits the devices of a user. */
export async function storeSubscription(
  transaction: AsService,
  { userId, sessionId, device, target: { endpoint, p256dh, auth } }: NewDevice,
): Promise<{ id: string; renewalToken: string } | null> {
  // A browser has one subscription at a time, so other rows of this session are of its earlier ones.
  await transaction.statement(
    'delete from public.push_subscriptions where user_id = $1 and session_id = $2 and endpoint <> $3',
    [userId, sessionId, endpoint],
  );
  const renewal = createMailToken(userId);
  const { rows } = await transaction.statement<{ id: string }>(
    `insert into public.push_subscriptions as known (user_id, session_id, device, renewal_hash, endpoint, p256dh, auth)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (endpoint) do update
       set user_id = excluded.user_id, session_id = excluded.session_id, device = excluded.device,
           renewal_hash = excluded.renewal_hash
     where known.p256dh = excluded.p256dh and known.auth = excluded.auth
     returning id`,
    [userId, sessionId, device, renewal.hash, endpoint, p256dh, auth],
  );
  return rows[0] ? { id: rows[0].id, renewalToken: renewal.text } : null;
}

/**
 * Stores the subscription that a service worker got in place of its earlier one. False if the device was removed, or
 * another device has this endpoint.
 */
export async function renewSubscription(service: AsService, token: string, target: PushTarget): Promise<boolean> {
  const parsed = parseMailToken(token);
  if (parsed === null) return false;
  const { rowCount } = await service.statement(
    `update public.push_subscriptions set endpoint = $3, p256dh = $4, auth = $5
      where user_id = $1 and renewal_hash = $2
        and not exists (select from public.push_subscriptions as other where other.endpoint = $3 and other.renewal_hash <> $2)`,
    [parsed.userId, parsed.hash, target.endpoint, target.p256dh, target.auth],
  );
  return rowCount === 1;
}

export type StoredTarget = PushTarget & { id: string };

export async function readTargets(service: AsService, userId: string): Promise<StoredTarget[]> {
  const { rows } = await service.statement<StoredTarget>(
    'select id, endpoint, p256dh, auth from public.push_subscriptions where user_id = $1',
    [userId],
  );
  return rows;
}

export async function recordSent(service: AsService, userId: string, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await service.statement(
    'update public.push_subscriptions set last_sent_at = $3 where user_id = $1 and id = any($2::uuid[])',
    [userId, ids, now],
  );
}

/** Deletes by the endpoint that is gone, not by the id: the browser may have got another endpoint meanwhile. */
export async function deleteGone(service: AsService, userId: string, gone: readonly StoredTarget[]): Promise<void> {
  if (gone.length === 0) return;
  await service.statement('delete from public.push_subscriptions where user_id = $1 and endpoint = any($2::text[])', [
    userId,
    gone.map(({ endpoint }) => endpoint),
  ]);
}
