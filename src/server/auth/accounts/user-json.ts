/** Serializes a user as clients read it (docs/specification/api.md 7). */
import { syncProviders, updateUser, type Account, type FactorRow, type IdentityRow, type UserRow } from './accounts.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

/** RFC 3339 in UTC. */
const time = (at: Date): string => at.toISOString();

/** JSON.stringify omits undefined members. */
const optionalTime = (at: Date | null): string | undefined => at?.toISOString();

export function userJson({ user, identities, factors }: Account) {
  const confirmed = [user.email_confirmed_at, user.phone_confirmed_at].filter((at) => at !== null);
  const earliest = confirmed.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null;
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    email_confirmed_at: optionalTime(user.email_confirmed_at),
    invited_at: optionalTime(user.invited_at),
    phone: user.phone ?? '',
    phone_confirmed_at: optionalTime(user.phone_confirmed_at),
    confirmation_sent_at: optionalTime(user.confirmation_sent_at),
    confirmed_at: optionalTime(earliest),
    recovery_sent_at: optionalTime(user.recovery_sent_at),
    new_email: user.new_email ?? undefined,
    email_change_sent_at: optionalTime(user.email_change_sent_at),
    new_phone: user.new_phone ?? undefined,
    phone_change_sent_at: optionalTime(user.phone_change_sent_at),
    reauthentication_sent_at: optionalTime(user.reauthentication_sent_at),
    last_sign_in_at: optionalTime(user.last_sign_in_at),
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    factors: factors.length === 0 ? undefined : factors.map(factorJson),
    identities: identities.map(identityJson),
    created_at: time(user.created_at),
    updated_at: time(user.updated_at),
    banned_until: optionalTime(user.banned_until),
    deleted_at: optionalTime(user.deleted_at),
    is_anonymous: user.is_anonymous,
  };
}

function identityJson(identity: IdentityRow) {
  const email = identity.identity_data['email'];
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    identity_data: identity.identity_data,
    provider: identity.provider,
    last_sign_in_at: optionalTime(identity.last_sign_in_at),
    created_at: time(identity.created_at),
    updated_at: time(identity.updated_at),
    email: typeof email === 'string' ? email : undefined,
  };
}

export const factorJson = (factor: FactorRow) => ({
  id: factor.id,
  created_at: time(factor.created_at),
  updated_at: time(factor.updated_at),
  status: factor.status,
  friendly_name: factor.friendly_name === '' ? undefined : factor.friendly_name,
  factor_type: factor.factor_type,
  phone: factor.phone ?? undefined,
  last_challenged_at: factor.last_challenged_at?.toISOString() ?? null,
});

// Takes ways to sign in, or an unconfirmed address, from an account.

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
 * Requires a transaction. Deletes the user's identities, second factors, passkeys, one-time tokens, sessions and flows.
 * The caller clears the password and the phone number, which are columns of `auth.users`.
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
