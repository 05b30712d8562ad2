/** A user's passkeys, and the challenges of their ceremonies (docs/specification/wire.md 32). */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry } from '../accounts/audit-log.ts';
import type { Device } from '../http/device.ts';
import { listCredentials, type StoredCredential } from './credential-store.ts';
import { CHALLENGE_LIFETIME_MS } from './relying-party.ts';

export const listPasskeys = (service: AsService, userId: string): Promise<StoredCredential[]> =>
  listCredentials(service, userId, 'passkey');

export async function findPasskey(service: AsService, credentialId: Buffer): Promise<StoredCredential | null> {
  const [passkey] = await service.run(
    queryBuilder
      .selectFrom('auth.webauthn_credentials')
      .selectAll()
      .where('credential_id', '=', credentialId)
      .where('purpose', '=', 'passkey'),
  );
  return passkey ?? null;
}

type PasskeyKey = { id: string; userId: string };

/** Null if the user has no such passkey. */
export async function renamePasskey(
  service: AsService,
  { id, userId, friendlyName, now }: PasskeyKey & { friendlyName: string; now: Date },
): Promise<StoredCredential | null> {
  const [passkey] = await service.run(
    queryBuilder
      .updateTable('auth.webauthn_credentials')
      .set({ friendly_name: friendlyName, updated_at: now })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('purpose', '=', 'passkey')
      .returningAll(),
  );
  return passkey ?? null;
}

type Removal = PasskeyKey & { actor: AuditEntry['actor']; device?: Device; now: Date };

/**
 * Requires a transaction. Locks the user's row, as a sign-in does: a session that starts meanwhile would stay at `aal2`.
 * Sessions that the passkey started drop to `aal1`, unless a second factor has confirmed them.
 * Null if the user has no such passkey.
 */
export async function removePasskey(transaction: AsService, removal: Removal): Promise<StoredCredential | null> {
  const { id, userId, actor, device, now } = removal;
  await lockUser(transaction, userId);
  await transaction.run(
    queryBuilder
      .updateTable('auth.sessions')
      .set({ aal: 'aal1' })
      .where('passkey_id', '=', id)
      .where('user_id', '=', userId)
      .where('factor_id', 'is', null)
      .returning('id'),
  );
  const [passkey] = await transaction.run(
    queryBuilder
      .deleteFrom('auth.webauthn_credentials')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('purpose', '=', 'passkey')
      .returningAll(),
  );
  if (!passkey) return null;
  await recordAuditEvent(transaction, {
    at: now,
    userId,
    actor,
    event: 'passkey_removed',
    ...(device && { device }),
    details: { passkey_id: id },
  });
  return passkey;
}

type NewChallenge = {
  challenge: string;
  /** Null for a sign-in. */
  userId: string | null;
  now: Date;
};

export async function storeChallenge(
  service: AsService,
  { challenge, userId, now }: NewChallenge,
): Promise<{ id: string; expiresAt: Date }> {
  const expiresAt = new Date(now.getTime() + CHALLENGE_LIFETIME_MS);
  const [row] = await service.run(
    queryBuilder
      .insertInto('auth.passkey_challenges')
      .values({ challenge, user_id: userId, expires_at: expiresAt })
      .returning('id'),
  );
  return { id: row!.id, expiresAt };
}

/**
 * Deletes the challenge, so that only one of several concurrent answers gets it. Call it outside the transaction that
 * accepts the answer: a rollback would bring the challenge back.
 */
export async function takeChallenge(
  service: AsService,
  { id, userId }: { id: string; userId: string | null },
): Promise<{ challenge: string; expires_at: Date } | null> {
  const query = queryBuilder
    .deleteFrom('auth.passkey_challenges')
    .where('id', '=', id)
    .where('user_id', userId === null ? 'is' : '=', userId)
    .returning(['challenge', 'expires_at']);
  return (await service.run(query))[0] ?? null;
}
