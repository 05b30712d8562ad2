/** Accounts with a phone number. A number is stored with the sign-up and counts once a texted code has confirmed it. */
import { randomUUID } from 'node:crypto';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import { saveOwnIdentity, syncProviders, updateUser, type Account } from '../accounts/accounts.ts';

export const PHONE_APP_METADATA = { provider: 'phone', providers: ['phone'] } as const;

/**
 * The data of a phone identity. A sign-up also copies it into the user's metadata. The metadata of an account that an
 * administrator creates get no copy.
 */
export const phoneIdentityData = (userId: string, phone: string, verified: boolean): JsonObject => ({
  email_verified: false,
  phone,
  phone_verified: verified,
  sub: userId,
});

type NewPhoneAccount = { phone: string; passwordHash: string | null; data: JsonObject; now: Date };

/** Requires a transaction. Null if another request took the number. `sendSignUpText` records the sign-up. */
export async function createPhoneAccount(transaction: AsService, account: NewPhoneAccount): Promise<Account | null> {
  const id = randomUUID();
  const { phone, now } = account;
  const facts = JSON.stringify({ ...account.data, ...phoneIdentityData(id, phone, false) });
  const [user] = await transaction.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        id,
        phone,
        password_hash: account.passwordHash,
        raw_app_meta_data: JSON.stringify(PHONE_APP_METADATA),
        raw_user_meta_data: facts,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll(),
  );
  if (!user) return null;
  const identities = await transaction.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: id,
        provider: 'phone',
        provider_id: id,
        identity_data: facts,
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .returningAll(),
  );
  return { user, identities, factors: [] };
}

/**
 * Sets the user's confirmed number in the row, the metadata and the phone identity. An anonymous account becomes a
 * permanent one.
 */
export async function confirmPhone(transaction: AsService, account: Account, phone: string, now: Date): Promise<void> {
  const { user } = account;
  const metadata = user.raw_user_meta_data;
  const existing = account.identities.find((identity) => identity.provider === 'phone');
  await updateUser(transaction, user.id, {
    phone,
    phone_confirmed_at: user.phone === phone ? (user.phone_confirmed_at ?? now) : now,
    is_anonymous: false,
    raw_user_meta_data: JSON.stringify({ ...metadata, phone, phone_verified: true }),
    updated_at: now,
  });
  const data = { ...existing?.identity_data, ...phoneIdentityData(user.id, phone, true) };
  await saveOwnIdentity(transaction, user.id, { provider: 'phone', data, now });
  if (!existing) await syncProviders(transaction, user.id);
}

/**
 * Removes the password of an account that was never confirmed. Threat: a stranger signs up with another person's number
 * and a password, and waits for the owner to confirm the number. Threat: account enumeration by time. The function
 * sends one statement, whether or not the number has an account.
 */
export async function clearUnprovenPassword(service: AsService, phone: string): Promise<void> {
  await service.run(
    queryBuilder
      .updateTable('auth.users')
      .set({ password_hash: null })
      .where('phone', '=', phone)
      .where('phone_confirmed_at', 'is', null)
      .where('email_confirmed_at', 'is', null),
  );
}

/**
 * Requires a transaction. Takes the number from another account that never confirmed it, for a user who has confirmed
 * it. An account that has no address and was never used is deleted.
 */
export async function releaseUnconfirmedPhone(transaction: AsService, phone: string, newOwnerId: string) {
  const owners = await transaction.run(
    queryBuilder
      .selectFrom('auth.users')
      .select(['id', 'email', 'last_sign_in_at'])
      .where('phone', '=', phone)
      .where('phone_confirmed_at', 'is', null)
      .where('id', '!=', newOwnerId)
      .forUpdate(),
  );
  for (const { id, email, last_sign_in_at: lastSignInAt } of owners) {
    if (email === null && lastSignInAt === null) await deleteUnconfirmedAccount(transaction, id);
    else await releasePhone(transaction, id);
  }
}

async function releasePhone(transaction: AsService, userId: string): Promise<void> {
  await transaction.run(
    queryBuilder.deleteFrom('auth.identities').where('user_id', '=', userId).where('provider', '=', 'phone'),
  );
  await updateUser(transaction, userId, { phone: null });
  await syncProviders(transaction, userId);
}

/** No-op for an account that has been confirmed or used. */
export async function deleteUnconfirmedAccount(service: AsService, id: string): Promise<void> {
  await service.run(
    queryBuilder
      .deleteFrom('auth.users')
      .where('id', '=', id)
      .where('phone_confirmed_at', 'is', null)
      .where('email_confirmed_at', 'is', null)
      .where('last_sign_in_at', 'is', null),
  );
}
