/** Reads accounts (a user with identities and second factors), and changes users and identities. */
import { randomUUID } from 'node:crypto';
import type { Selectable, Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, JsonObject } from '#server/database/tables.ts';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { Device } from '../http/device.ts';
import { recordAuditEvent } from './audit-log.ts';

export type UserRow = Selectable<Tables['auth.users']>;
export type IdentityRow = Selectable<Tables['auth.identities']>;
/** A second factor without its secret. */
export type FactorRow = Pick<
  Selectable<Tables['auth.mfa_factors']>,
  'id' | 'factor_type' | 'status' | 'friendly_name' | 'phone' | 'last_challenged_at' | 'created_at' | 'updated_at'
>;
export type Account = { user: UserRow; identities: IdentityRow[]; factors: FactorRow[] };

/** Ignores accounts of SAML providers, because several of them may share an address. */
export const userByEmailQuery = (email: string) =>
  queryBuilder.selectFrom('auth.users').selectAll().where('email', '=', email).where('is_sso_user', '=', false);

/** Null if no account has the address. */
export async function findUserByEmail(service: AsService, email: string): Promise<UserRow | null> {
  const rows = await service.run(userByEmailQuery(email));
  return rows[0] ?? null;
}

export async function findUserById(service: AsService, id: string): Promise<UserRow | null> {
  const rows = await service.run(queryBuilder.selectFrom('auth.users').selectAll().where('id', '=', id));
  return rows[0] ?? null;
}

/**
 * Requires a transaction. Locks the user's row, which serializes changes of one account, and returns it as it is now.
 * Null if the user is gone.
 */
export async function lockUser(transaction: AsService, id: string): Promise<UserRow | null> {
  const rows = await transaction.run(
    queryBuilder.selectFrom('auth.users').selectAll().where('id', '=', id).forUpdate(),
  );
  return rows[0] ?? null;
}

export const isBanned = (user: Pick<UserRow, 'banned_until'>, now: Date): boolean =>
  user.banned_until !== null && user.banned_until > now;

export async function listIdentities(service: AsService, userId: string): Promise<IdentityRow[]> {
  return service.run(
    queryBuilder.selectFrom('auth.identities').selectAll().where('user_id', '=', userId).orderBy('created_at'),
  );
}

/** Selects users with identities and factors in one statement. Pass each row to `toAccount`. */
export const accountsQuery = () =>
  queryBuilder
    .selectFrom('auth.users as user')
    .selectAll('user')
    .select((row) => [
      jsonArrayFrom(
        row
          .selectFrom('auth.identities as identity')
          .selectAll('identity')
          .whereRef('identity.user_id', '=', 'user.id')
          .orderBy('identity.created_at'),
      ).as('identities'),
      jsonArrayFrom(
        row
          .selectFrom('auth.mfa_factors as factor')
          .select(['factor.id', 'factor_type', 'status', 'friendly_name', 'factor.phone', 'last_challenged_at'])
          .select(['factor.created_at', 'factor.updated_at'])
          .whereRef('factor.user_id', '=', 'user.id')
          .orderBy('factor.created_at'),
      ).as('factors'),
    ]);

export const accountQuery = (id: string) => accountsQuery().where('user.id', '=', id);

type Timestamps = { created_at: string; updated_at: string };
type AccountRow = UserRow & {
  identities: (Omit<IdentityRow, 'last_sign_in_at' | keyof Timestamps> & {
    last_sign_in_at: string | null;
  } & Timestamps)[];
  factors: (Omit<FactorRow, 'last_challenged_at' | keyof Timestamps> & {
    last_challenged_at: string | null;
  } & Timestamps)[];
};

const optionalDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** Converts the timestamps inside the JSON columns, which PostgreSQL returns as text. */
export function toAccount({ identities, factors, ...user }: AccountRow): Account {
  return {
    user,
    identities: identities.map((identity) => ({
      ...identity,
      last_sign_in_at: optionalDate(identity.last_sign_in_at),
      created_at: new Date(identity.created_at),
      updated_at: new Date(identity.updated_at),
    })),
    factors: factors.map((factor) => ({
      ...factor,
      last_challenged_at: optionalDate(factor.last_challenged_at),
      created_at: new Date(factor.created_at),
      updated_at: new Date(factor.updated_at),
    })),
  };
}

/** Throws if the user is gone. Callers have found the user before, so only a concurrent deletion causes this. */
export async function getAccount(service: AsService, id: string): Promise<Account> {
  const [row] = await service.run(accountQuery(id));
  if (!row) throw new Error('the account was deleted concurrently');
  return toAccount(row);
}

type NewAccount = {
  email: string;
  /** Null for an account without a password, such as one that signs in with mailed codes. */
  passwordHash: string | null;
  data: JsonObject;
  confirmed: boolean;
  /** True if an administrator makes the account: the user's metadata and the identity's data are then kept apart. */
  isManaged?: boolean;
  now: Date;
};

/** Throws a `pg.DatabaseError` with code 23505 (unique violation) when the address is taken. */
export async function createAccount(service: AsService, account: NewAccount): Promise<Account> {
  const id = randomUUID();
  const { email, now, data, confirmed, isManaged = false } = account;
  const facts = emailIdentityData(id, email, confirmed);
  const [user] = await service.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        id,
        email,
        password_hash: account.passwordHash,
        email_confirmed_at: confirmed ? now : null,
        raw_app_meta_data: JSON.stringify(EMAIL_APP_METADATA),
        raw_user_meta_data: JSON.stringify(isManaged ? data : { ...data, ...facts }),
        created_at: now,
        updated_at: now,
      })
      .returningAll(),
  );
  const identities = await service.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: id,
        provider: 'email',
        provider_id: id,
        identity_data: JSON.stringify(isManaged ? facts : { ...data, ...facts }),
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .returningAll(),
  );
  return { user: user!, identities, factors: [] };
}

export const EMAIL_APP_METADATA = { provider: 'email', providers: ['email'] } as const;

/**
 * The data of an e-mail identity. As in Supabase, a sign-up also copies it into the user's metadata; an account that an
 * administrator makes has no such copy.
 */
export const emailIdentityData = (userId: string, email: string, verified: boolean): JsonObject => ({
  email,
  email_verified: verified,
  phone_verified: false,
  sub: userId,
});

export async function updateUser(
  service: AsService,
  id: string,
  change: Updateable<Tables['auth.users']>,
): Promise<void> {
  await service.run(queryBuilder.updateTable('auth.users').set(change).where('id', '=', id));
}

/**
 * Removes the password and the identities of other providers from an account that has confirmed neither an address nor
 * a phone number. No-op for any other account.
 *
 * Threat: a stranger signs up with another person's address and waits for the owner to confirm the address. The
 * stranger's password, or a provider's account that gave the address without proof, would then open the owner's
 * journal. Called when a mailed code is requested and when a sign-up uses another password; a redeemed link or code
 * takes more away (`claimAccount`).
 */
export async function clearUnconfirmedPassword(service: AsService, id: string): Promise<void> {
  const removed = await service.run(
    queryBuilder
      .with('unconfirmed', (query) =>
        query
          .updateTable('auth.users')
          .set({ password_hash: null })
          .where('id', '=', id)
          .where('email_confirmed_at', 'is', null)
          .where('phone_confirmed_at', 'is', null)
          .returning('id'),
      )
      .deleteFrom('auth.identities')
      .where('user_id', 'in', (row) => row.selectFrom('unconfirmed').select('unconfirmed.id'))
      .where('provider', 'not in', ['email', 'phone'])
      .returning('id'),
  );
  if (removed.length > 0) await syncProviders(service, id);
}

/**
 * Sets `app_metadata.provider` and `providers` from the user's identities; call it after every change of identities.
 * `provider` keeps its value while the user has an identity of that provider. No-op if the user is gone.
 */
export async function syncProviders(transaction: AsService, userId: string): Promise<void> {
  const identities = await transaction.run(
    queryBuilder
      .selectFrom('auth.identities')
      .select('provider')
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .orderBy('provider'),
  );
  const [user] = await transaction.run(
    queryBuilder.selectFrom('auth.users').select('raw_app_meta_data').where('id', '=', userId),
  );
  if (!user) return;
  const providers = [...new Set(identities.map((identity) => identity.provider))];
  const current = user.raw_app_meta_data['provider'];
  const provider = providers.find((name) => name === current) ?? providers[0];
  await updateUser(transaction, userId, {
    raw_app_meta_data: JSON.stringify({ ...user.raw_app_meta_data, provider, providers }),
  });
}

type Confirmation = {
  email: string;
  /** False if AUTH_AUTOCONFIRM alone confirms the address (docs/specification/accounts.md 17). */
  isProven: boolean;
  now: Date;
};

/**
 * Sets the user's confirmed address in the row, the metadata and the e-mail identity. An anonymous account becomes a
 * permanent one.
 */
export async function confirmAddress(
  service: AsService,
  account: Account,
  { email, isProven, now }: Confirmation,
): Promise<void> {
  const { user } = account;
  const facts = emailIdentityData(user.id, email, true);
  const existing = account.identities.find((identity) => identity.provider === 'email');
  // The metadata of an account that an administrator made have no copy of the address.
  const copied = existing && !('email' in user.raw_user_meta_data) ? { email_verified: true } : facts;
  const before = user.email === email ? user : { email_confirmed_at: null, email_proven_at: null };
  await updateUser(service, user.id, {
    email,
    email_confirmed_at: before.email_confirmed_at ?? now,
    email_proven_at: before.email_proven_at ?? (isProven ? now : null),
    raw_user_meta_data: JSON.stringify({ ...user.raw_user_meta_data, ...copied }),
    is_anonymous: false,
    updated_at: now,
  });
  await saveOwnIdentity(service, user.id, { provider: 'email', data: { ...existing?.identity_data, ...facts }, now });
  if (!existing) await syncProviders(service, user.id);
}

export async function findUserByPhone(service: AsService, phone: string): Promise<UserRow | null> {
  const rows = await service.run(queryBuilder.selectFrom('auth.users').selectAll().where('phone', '=', phone));
  return rows[0] ?? null;
}

type OwnIdentity = { provider: 'email' | 'phone'; data: JsonObject; now: Date };

/** Saves the identity of the user's confirmed address or number. */
export async function saveOwnIdentity(
  service: AsService,
  userId: string,
  { provider, data, now }: OwnIdentity,
): Promise<void> {
  const identityData = JSON.stringify(data);
  await service.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: userId,
        provider,
        provider_id: userId,
        identity_data: identityData,
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict.columns(['provider', 'provider_id']).doUpdateSet({ identity_data: identityData, updated_at: now }),
      ),
  );
}

// Creates the account and the audit row when a user signs up, also anonymously.

type SignUp = Parameters<typeof createAccount>[1] & { method: 'password' | 'otp'; device: Device };

/** Requires a transaction. Null if a concurrent request took the address: PostgreSQL then aborts the transaction. */
export async function createAccountIfFree(transaction: AsService, signUp: SignUp): Promise<Account | null> {
  const { method, device, now } = signUp;
  try {
    const account = await createAccount(transaction, signUp);
    await recordSignUp(transaction, { userId: account.user.id, method, device, now });
    return account;
  } catch (error) {
    if (isUniqueViolation(error)) return null;
    throw error;
  }
}

type AnonymousSignUp = { data: JsonObject; device: Device; now: Date };

/** Requires a transaction. Returns the id of the new user, who has no address, no password and no identity. */
export async function createAnonymousAccount(
  transaction: AsService,
  { data, device, now }: AnonymousSignUp,
): Promise<string> {
  const [user] = await transaction.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        is_anonymous: true,
        raw_app_meta_data: '{}',
        raw_user_meta_data: JSON.stringify(data),
        created_at: now,
        updated_at: now,
      })
      .returning('id'),
  );
  await recordSignUp(transaction, { userId: user!.id, method: 'anonymous', device, now });
  return user!.id;
}

type SignUpEvent = { userId: string; method: string; device: Device; now: Date };

const recordSignUp = (transaction: AsService, { userId, method, device, now }: SignUpEvent): Promise<void> =>
  recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'signed_up', device, details: { method } });
