/** WebAuthn credentials: passkeys sign in alone, the credential of a factor only confirms a sign-in. */
import type { Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, JsonObject } from '#server/database/tables.ts';
import { lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry } from '../accounts/audit-log.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { UUID } from '../keys/access-tokens.ts';
import type { Assertion, NewCredential } from './check-credential.ts';
import { CHALLENGE_LIFETIME_MS } from './relying-party.ts';

export type StoredCredential = Selectable<Tables['auth.webauthn_credentials']>;
type Purpose = StoredCredential['purpose'];

/** Oldest first. */
export async function listCredentials(
  service: AsService,
  userId: string,
  purpose: Purpose,
): Promise<StoredCredential[]> {
  return service.run(
    queryBuilder
      .selectFrom('auth.webauthn_credentials')
      .selectAll()
      .where('user_id', '=', userId)
      .where('purpose', '=', purpose)
      .orderBy('created_at'),
  );
}

type CredentialRow = { userId: string; purpose: Purpose; credential: NewCredential; now: Date };

/** Returns null if the credential is registered already, by whichever user. */
export async function saveCredential(
  service: AsService,
  { userId, purpose, credential, now }: CredentialRow,
): Promise<StoredCredential | null> {
  const [row] = await service.run(
    queryBuilder
      .insertInto('auth.webauthn_credentials')
      .values({
        user_id: userId,
        purpose,
        credential_id: credential.credentialId,
        public_key: credential.publicKey,
        sign_count: credential.signCount,
        transports: credential.transports,
        aaguid: credential.aaguid,
        backed_up: credential.backedUp,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.column('credential_id').doNothing())
      .returningAll(),
  );
  return row ?? null;
}

/**
 * Stores the signature counter of an assertion. Returns false if the credential is gone, or if a concurrent assertion
 * has stored the same or a higher counter. Authenticators without a counter always send 0, which passes.
 */
export async function recordAssertion(
  service: AsService,
  id: string,
  { signCount, backedUp }: Assertion,
  now: Date,
): Promise<boolean> {
  const rows = await service.run(
    queryBuilder
      .updateTable('auth.webauthn_credentials')
      .set({ sign_count: signCount, backed_up: backedUp, last_used_at: now })
      .where('id', '=', id)
      .where((row) =>
        row.or([
          row('sign_count', '<', signCount),
          row.and([row('sign_count', '=', 0), row(row.val(signCount), '=', 0)]),
        ]),
      )
      .returning('id'),
  );
  return rows.length > 0;
}

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
 * Requires a transaction. Locks the user's row, as a sign-in does, so that none starts a session at `aal2` meanwhile.
 * Sessions that the passkey started drop to `aal1`, unless a second factor has confirmed them. Null if the user has no
 * such passkey.
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
      .where('factor_id', 'is', null),
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
async function takeChallenge(
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

/**
 * Reads the answer of a passkey ceremony and uses up its challenge.
 *
 * @param userId null for a sign-in
 */
export async function readCeremony(
  deps: AuthDeps,
  body: Body,
  userId: string | null,
): Promise<{ challenge: string; answer: JsonObject }> {
  const id = body.text('challenge_id');
  if (id === '') throw invalidRequest('challenge_id is required');
  const answer = body.object('credential');
  if (answer === null) throw invalidRequest('credential is required');
  if (!UUID.test(id)) throw invalidRequest('challenge_id must be a valid UUID');
  const taken = await takeChallenge(deps.database.asService('use a passkey challenge'), { id, userId });
  if (!taken) throw new AuthError(400, 'webauthn_challenge_not_found', 'Challenge not found or already used');
  if (taken.expires_at <= deps.clock.now())
    throw new AuthError(400, 'webauthn_challenge_expired', 'Challenge has expired');
  return { challenge: taken.challenge, answer };
}

/** A passkey as the user's routes and the admin routes show it. */
export const passkeyJson = (passkey: StoredCredential) => ({
  id: passkey.id,
  friendly_name: passkey.friendly_name === '' ? undefined : passkey.friendly_name,
  created_at: passkey.created_at.toISOString(),
  last_used_at: passkey.last_used_at?.toISOString(),
});
