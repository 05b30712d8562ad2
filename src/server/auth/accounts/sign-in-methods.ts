/** Takes ways to sign in, or an unconfirmed address, from an account. */
import { syncProviders, updateUser, type IdentityRow, type UserRow } from './accounts.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

const SIGN_IN_TABLES = [
  'auth.identities',
  'auth.mfa_factors',
  'auth.webauthn_credentials',
  'auth.recovery_code_sets',
  'auth.one_time_tokens',
  'auth.sessions',
  'auth.flows',
] as const;

/**
 * Requires a transaction. Deletes the user's identities, second factors, passkeys, recovery codes, one-time tokens,
 * sessions and flows. The caller clears the password and the phone number, which are columns of `auth.users`.
 */
export async function deleteSignInMethods(transaction: AsService, userId: string): Promise<void> {
  for (const table of SIGN_IN_TABLES) {
    await transaction.run(queryBuilder.deleteFrom(table).where('user_id', '=', userId));
  }
}

/** Takes the unconfirmed address from an account that may be in use by other means, such as a phone number. */
export async function releaseAddress(transaction: AsService, owner: UserRow, now: Date): Promise<void> {
  await transaction.run(
    queryBuilder.deleteFrom('auth.one_time_tokens').where('user_id', '=', owner.id).where('address', '=', owner.email!),
  );
  await transaction.run(
    queryBuilder.deleteFrom('auth.identities').where('user_id', '=', owner.id).where('provider', '=', 'email'),
  );
  await updateUser(transaction, owner.id, { email: null, email_proven_at: null, updated_at: now });
  await syncProviders(transaction, owner.id);
}

/**
 * Takes the identity from an account that was never confirmed or used. Deletes the account if this was its last
 * identity.
 */
export async function removeUnconfirmedIdentity(transaction: AsService, identity: IdentityRow): Promise<void> {
  await transaction.run(queryBuilder.deleteFrom('auth.identities').where('id', '=', identity.id));
  await transaction.run(
    queryBuilder
      .deleteFrom('auth.users')
      .where('id', '=', identity.user_id)
      .where((row) =>
        row.not(
          row.exists(
            row.selectFrom('auth.identities').select('id').whereRef('auth.identities.user_id', '=', 'auth.users.id'),
          ),
        ),
      ),
  );
  await syncProviders(transaction, identity.user_id);
}
