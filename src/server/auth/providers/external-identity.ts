/**
 * Signs a user in with an identity that a third party has proven: a provider's account, a SAML assertion or a wallet
 * (docs/specification/accounts.md 15).
 *
 * Threat: account takeover by address. A provider that has not verified an address lets anybody claim it, so such an
 * address never opens or joins an existing account. An identity with a verified address joins an account only if the
 * account's own address is proven.
 *
 * Threat: pre-hijacking. A stranger signs up with another person's address and waits for the owner. When a provider
 * proves the owner, the owner takes over an account whose address nobody has proven, without the stranger's ways to
 * sign in (`claim-account.ts`). An account in use by phone merely loses an address that it never confirmed, and the
 * owner gets a new account.
 */
import { randomUUID } from 'node:crypto';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import {
  isBanned,
  lockUser,
  syncProviders,
  updateUser,
  userByEmailQuery,
  type IdentityRow,
  type UserRow,
} from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { releaseAddress, removeUnconfirmedIdentity } from '../accounts/sign-in-methods.ts';
import { claimAccount, isUnproven, type Claim } from '../codes/claim-account.ts';
import type { Device } from '../http/device.ts';

export type IdentitySignIn = {
  identity: ExternalIdentity;
  /** The signed-in user who links the identity; null or absent for a sign-in. */
  linkingUserId?: string | null;
  /**
   * The identity comes from a SAML provider. Only that provider vouches for the address, so the account is never shared
   * with other ways to sign in.
   */
  isSso?: boolean;
  policy: {
    /** `AUTH_SIGNUPS`. False: an unknown identity gets no account. */
    signups: boolean;
    /** `AUTH_AUTOCONFIRM`: a new account needs no confirmed address. */
    autoconfirm: boolean;
    /** A new account needs an address. */
    emailRequired?: boolean;
  };
  device: Device;
  now: Date;
};

export type IdentityOutcome =
  /** The caller starts a session or issues an auth code in the same transaction. */
  | { outcome: 'signed_in'; userId: string; change: 'none' | 'created' | 'linked' }
  | { outcome: 'signed_in'; userId: string; change: 'claimed'; claim: Claim }
  | { outcome: 'linked'; userId: string }
  /** The address is unproven. The caller sends the confirmation mail of a sign-up and starts no session. */
  | { outcome: 'needs_verification'; user: UserRow }
  /** An unproven address of another account. A response other than that of `needs_verification` would reveal it. */
  | { outcome: 'address_taken'; owner: UserRow }
  | { outcome: 'identity_already_exists'; isOwn: boolean }
  /** Linking would give the account an address that another account has. */
  | { outcome: 'email_exists' }
  /** The identity has no address, and `policy.emailRequired` is set. */
  | { outcome: 'email_missing' }
  | { outcome: 'signup_disabled' }
  | { outcome: 'banned' }
  /** The linking user was deleted. */
  | { outcome: 'user_not_found' };

/** Requires a transaction. Locks the identity and the account's row, so sign-ins with either run one by one. */
export async function signInWithIdentity(transaction: AsService, signIn: IdentitySignIn): Promise<IdentityOutcome> {
  const { identity, linkingUserId } = signIn;
  await lockIdentity(transaction, identity);
  const existing = await findIdentity(transaction, identity);
  if (linkingUserId) return linkIdentity(transaction, signIn, linkingUserId, existing);
  const known = existing && (await signInKnown(transaction, signIn, existing));
  return known ?? signInNew(transaction, signIn);
}

async function lockUserByEmail(transaction: AsService, email: string): Promise<UserRow | null> {
  const [user] = await transaction.run(userByEmailQuery(email).forUpdate());
  return user ?? null;
}

/** The account has an unconfirmed address and no confirmed phone number. */
const isUnconfirmed = (user: UserRow): boolean =>
  user.email !== null && user.email_confirmed_at === null && user.phone_confirmed_at === null;

/** Null if the account is gone, or if it has just lost the identity. The caller then treats the identity as new. */
async function signInKnown(
  transaction: AsService,
  signIn: IdentitySignIn,
  existing: IdentityRow,
): Promise<IdentityOutcome | null> {
  const { identity, now } = signIn;
  const user = await lockUser(transaction, existing.user_id);
  if (!user) return null;
  // Threat: a stranger signs in with a provider while the owner claims the account. Without this second look, saving
  // the identity below would add it again.
  if ((await findIdentity(transaction, identity))?.user_id !== user.id) return null;
  if (isBanned(user, now)) return { outcome: 'banned' };
  const isOwnAddress = identity.emailVerified && identity.email !== null && identity.email === user.email;
  if (isOwnAddress && isUnproven(user)) return claimWithIdentity(transaction, signIn, user);
  if (isUnconfirmed(user) && user.last_sign_in_at === null) {
    if (!identity.emailVerified || identity.email === null) return { outcome: 'needs_verification', user };
    // Threat: an attacker first presents a stranger's unverified address, then verifies another address at the
    // provider. The proof of one address must not confirm the other.
    await removeUnconfirmedIdentity(transaction, existing);
    return null;
  }
  await saveIdentity(transaction, signIn, user.id);
  return { outcome: 'signed_in', userId: user.id, change: 'none' };
}

/**
 * An attempt ends without an account if a concurrent request takes the address between the look-up and the insertion,
 * or if it has just taken the address from an account that never confirmed it.
 */
const MAX_ATTEMPTS = 3;

async function signInNew(transaction: AsService, signIn: IdentitySignIn): Promise<IdentityOutcome> {
  const { identity, policy, now } = signIn;
  if (identity.email === null && policy.emailRequired === true) return { outcome: 'email_missing' };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const sharesAddress = identity.email !== null && signIn.isSso !== true;
    const owner = sharesAddress ? await lockUserByEmail(transaction, identity.email!) : null;
    if (!owner) {
      if (!policy.signups) return { outcome: 'signup_disabled' };
      const created = await createUser(transaction, signIn);
      if (created) return created;
    } else if (!identity.emailVerified) {
      // Threat: account enumeration. An unproven address gets the same answer with and without an account.
      return policy.signups ? { outcome: 'address_taken', owner } : { outcome: 'signup_disabled' };
    } else if (isBanned(owner, now)) {
      return { outcome: 'banned' };
    } else if (isUnproven(owner)) {
      return claimWithIdentity(transaction, signIn, owner);
    } else if (owner.email_confirmed_at !== null) {
      await attachIdentity(transaction, signIn, owner);
      return { outcome: 'signed_in', userId: owner.id, change: 'linked' };
    } else {
      await releaseAddress(transaction, owner, now);
    }
  }
  throw new Error('the address changes hands at every attempt');
}

/** Null if another request took the address. */
async function createUser(transaction: AsService, signIn: IdentitySignIn): Promise<IdentityOutcome | null> {
  const { identity, policy, isSso = false, now, device } = signIn;
  const isConfirmed = identity.email !== null && (identity.emailVerified || isSso || policy.autoconfirm);
  const [user] = await transaction.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        id: randomUUID(),
        email: identity.email,
        email_confirmed_at: isConfirmed ? now : null,
        email_proven_at: identity.email !== null && (identity.emailVerified || isSso) ? now : null,
        is_sso_user: isSso,
        raw_app_meta_data: JSON.stringify({ provider: identity.provider, providers: [identity.provider] }),
        raw_user_meta_data: JSON.stringify(identity.data),
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll(),
  );
  if (!user) return null;
  await saveIdentity(transaction, signIn, user.id);
  const details = { provider: identity.provider };
  await recordAuditEvent(transaction, { at: now, userId: user.id, actor: 'user', event: 'signed_up', device, details });
  return isUnconfirmed(user)
    ? { outcome: 'needs_verification', user }
    : { outcome: 'signed_in', userId: user.id, change: 'created' };
}

async function linkIdentity(
  transaction: AsService,
  signIn: IdentitySignIn,
  userId: string,
  existing: IdentityRow | null,
): Promise<IdentityOutcome> {
  const { identity, now } = signIn;
  const user = await lockUser(transaction, userId);
  if (!user) return { outcome: 'user_not_found' };
  if (isBanned(user, now)) return { outcome: 'banned' };
  if (existing) return { outcome: 'identity_already_exists', isOwn: existing.user_id === userId };
  const adoptsAddress = user.email === null && identity.email !== null && identity.emailVerified;
  if (adoptsAddress && !(await adoptAddress(transaction, user.id, identity.email!, now)))
    return { outcome: 'email_exists' };
  await attachIdentity(transaction, signIn, user);
  return { outcome: 'linked', userId };
}

/** False if another account has the address. Throws a unique violation if another request takes it concurrently. */
async function adoptAddress(transaction: AsService, userId: string, email: string, now: Date): Promise<boolean> {
  if (await lockUserByEmail(transaction, email)) return false;
  await updateUser(transaction, userId, { email, email_confirmed_at: now, email_proven_at: now, updated_at: now });
  return true;
}

/** Adds the identity to an account. An anonymous account becomes a permanent one. */
async function attachIdentity(transaction: AsService, signIn: IdentitySignIn, user: UserRow): Promise<void> {
  const { identity, now } = signIn;
  await updateUser(transaction, user.id, {
    raw_user_meta_data: JSON.stringify({ ...identity.data, ...user.raw_user_meta_data }),
    is_anonymous: false,
    updated_at: now,
  });
  await linkToUser(transaction, signIn, user.id, {});
}

async function linkToUser(
  transaction: AsService,
  signIn: IdentitySignIn,
  userId: string,
  details: JsonObject,
): Promise<void> {
  const { identity, now: at, device } = signIn;
  await saveIdentity(transaction, signIn, userId);
  await syncProviders(transaction, userId);
  await recordAuditEvent(transaction, {
    at,
    userId,
    actor: 'user',
    event: 'identity_linked',
    device,
    details: { provider: identity.provider, ...details },
  });
}

/** Removes the earlier ways to sign in and adds the identity, whose metadata replace those of the stranger. */
async function claimWithIdentity(
  transaction: AsService,
  signIn: IdentitySignIn,
  user: UserRow,
): Promise<IdentityOutcome> {
  const { identity, now, device } = signIn;
  const claim = await claimAccount(transaction, user, { method: identity.provider, device, now });
  await updateUser(transaction, user.id, {
    email_confirmed_at: user.email_confirmed_at ?? now,
    email_proven_at: now,
    raw_user_meta_data: JSON.stringify(identity.data),
  });
  await linkToUser(transaction, signIn, user.id, { replaced_unproven: true });
  return { outcome: 'signed_in', userId: user.id, change: 'claimed', claim };
}

/** A third party's account that signs in to one of ours. */
export type ExternalIdentity = {
  /** `google`, `github`, the name of an OIDC provider, `sso:<provider id>` or `web3`. */
  provider: string;
  /** The account's id at the provider; never reused there, unlike a name or an address. */
  providerId: string;
  /** From `parseEmail`; null if the third party gives no address. */
  email: string | null;
  emailVerified: boolean;
  /** Becomes `identity_data`; fills gaps in the user's metadata, or replaces them when it claims an account. */
  data: JsonObject;
};

/**
 * Takes an advisory lock until the transaction ends, because a new identity has no row to lock. Without it, two
 * concurrent first sign-ins would both try to create an account.
 */
async function lockIdentity(transaction: AsService, { provider, providerId }: ExternalIdentity): Promise<void> {
  const key = `identity ${JSON.stringify([provider, providerId])}`;
  await transaction.statement('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
}

async function findIdentity(transaction: AsService, identity: ExternalIdentity): Promise<IdentityRow | null> {
  const [row] = await transaction.run(
    queryBuilder
      .selectFrom('auth.identities')
      .selectAll()
      .where('provider', '=', identity.provider)
      .where('provider_id', '=', identity.providerId),
  );
  return row ?? null;
}

/** Inserts the identity, or updates its data to the provider's current answer. */
export async function saveIdentity(
  transaction: AsService,
  { identity, now }: { identity: ExternalIdentity; now: Date },
  userId: string,
): Promise<void> {
  const data = JSON.stringify(identity.data);
  await transaction.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: userId,
        provider: identity.provider,
        provider_id: identity.providerId,
        identity_data: data,
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'provider_id'])
          .doUpdateSet({ identity_data: data, last_sign_in_at: now, updated_at: now }),
      ),
  );
}
