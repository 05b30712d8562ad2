/** WebAuthn credentials: passkeys sign in alone, the credential of a factor only confirms a sign-in. */
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Assertion, NewCredential } from './check-credential.ts';

export type StoredCredential = Selectable<AuthTables['auth.webauthn_credentials']>;
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
 * Stores the signature counter of an assertion. Returns false if a concurrent assertion has stored the same or a higher
 * counter; authenticators without a counter always send 0.
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
