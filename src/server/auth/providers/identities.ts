/** GET /user/identities/authorize and DELETE /user/identities/{id} (docs/specification/api.md 28). */
import { sql } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import { identityUnlinkedMail } from '#server/mail/account-emails.ts';
import {
  confirmAddress,
  findUserByEmail,
  getAccount,
  lockUser,
  syncProviders,
  updateUser,
  type Account,
  type IdentityRow,
  type UserRow,
} from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEvent } from '../accounts/audit-log.ts';
import { providerLabel, sendNotice } from '../accounts/security-notice.ts';
import { mailAddressChanged } from '../codes/address-change.ts';
import { deleteOneTimeTokens } from '../codes/one-time-tokens.ts';
import type { LinkingUser } from '../codes/prove-identity.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { lockSignedInUser } from '../sessions/require-user.ts';
import { endSessions } from '../sessions/sessions.ts';
import { ProviderError } from './provider-client.ts';
import { startProviderFlow } from './start-flow.ts';

export const authorizeIdentity: Endpoint<{ caller: LinkingUser }> = async (context, deps, { caller }) => {
  let url: string;
  try {
    const { account, session } = caller;
    url = await startProviderFlow(context, deps, { userId: account.user.id, sessionId: session?.id ?? null });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ err: error, provider: context.req.query('provider') }, 'a provider cannot be reached');
    throw new AuthError('provider_unavailable');
  }
  await caller.consumeCode(deps.database.asService('link an identity'));
  return context.req.query('skip_http_redirect') === 'true' ? context.json({ url }) : context.redirect(url, 302);
};

type Given = { caller: LinkingUser; device: Device; ids: { id: string } };

export const deleteIdentity: Endpoint<Given> = async (context, deps, { caller, device, ids: { id: identityId } }) => {
  const { account, session } = caller;
  const now = deps.clock.now();
  const result = await deps.database.transactAsService('unlink an identity', async (transaction) => {
    const userId = account.user.id;
    await lockSignedInUser(transaction, userId, session);
    await caller.consumeCode(transaction);
    return unlinkIdentity(transaction, { userId, identityId, sessionId: session?.id ?? null, device, now });
  });
  if (result.outcome === 'single_identity') throw new AuthError('single_identity');
  if (result.outcome === 'not_found') throw new AuthError(422, 'identity_not_found', "Identity doesn't exist");
  if (result.outcome === 'address_conflict')
    throw new AuthError(
      422,
      'email_conflict_identity_not_deletable',
      'Unable to unlink identity due to email conflict',
    );
  deps.accessTokens.invalidateSessions(result.endedSessions);
  const { user } = account;
  mailIdentityUnlinked(
    deps,
    user,
    LABELS[result.provider] ?? providerLabel(deps.config.auth.oauthProviders, result.provider),
  );
  const { email } = result;
  if (user.email !== null && email !== null && email !== user.email) mailAddressChanged(deps, user.email, email);
  return context.json({});
};

const LABELS: Readonly<Record<string, string>> = { email: 'your password', phone: 'your phone', web3: 'your wallet' };

/** @param label names the removed way to sign in */
function mailIdentityUnlinked(deps: AuthDeps, user: UserRow, label: string): void {
  if (user.email_confirmed_at === null) return;
  sendNotice(deps, user, (notice) => identityUnlinkedMail({ ...notice, label }));
}

type Unlinking = {
  userId: string;
  identityId: string;
  /** The session of the request, which does not end. Null for a token without a session. */
  sessionId: string | null;
  device: Device;
  now: Date;
};

type UnlinkResult =
  /** `email` is the address of the account from now on. */
  | { outcome: 'unlinked'; provider: string; endedSessions: string[]; email: string | null }
  | { outcome: 'single_identity' }
  | { outcome: 'not_found' }
  | { outcome: 'address_conflict' };

/**
 * Removes a way to sign in from an account (docs/specification/accounts.md 15).
 *
 * Requires a transaction. Locks the user's row, so two requests cannot remove the last two identities.
 */
async function unlinkIdentity(transaction: AsService, unlinking: Unlinking): Promise<UnlinkResult> {
  const { userId, identityId } = unlinking;
  await lockUser(transaction, userId);
  const { user, identities } = await withPasswordIdentity(
    transaction,
    await getAccount(transaction, userId),
    unlinking,
  );
  if (identities.length <= 1) return { outcome: 'single_identity' };
  const removed = identities.find((identity) => identity.id === identityId);
  if (!removed) return { outcome: 'not_found' };
  const remaining = identities.filter((identity) => identity.id !== identityId);
  const isTrusted = (identity: IdentityRow): boolean => trustedFrom(user, identity) <= unlinking.now.getTime();
  const trusted = isTrusted(removed) ? remaining.filter(isTrusted) : remaining;
  if (!trusted.some((identity) => canSignIn(user, identity))) return { outcome: 'single_identity' };
  const choice = await chooseAddress(transaction, user, { remaining, trusted });
  if (choice === 'conflict') return { outcome: 'address_conflict' };

  const { email } = choice;
  await transaction.run(queryBuilder.deleteFrom('auth.identities').where('id', '=', identityId));
  await deleteOneTimeTokens(transaction, userId);
  await updateUser(transaction, userId, changesOf({ user, remaining, email, now: unlinking.now }));
  await syncProviders(transaction, userId);
  const endedSessions = await endSessionsOf(transaction, removed, unlinking);
  await recordEvent(transaction, unlinking, 'identity_unlinked', { provider: removed.provider });
  if (email !== user.email) await recordEvent(transaction, unlinking, 'address_changed', {});
  return { outcome: 'unlinked', provider: removed.provider, endedSessions, email };
}

/**
 * Adds the e-mail identity of a user who signed up with a provider and set a password later: a second way to sign in.
 */
async function withPasswordIdentity(transaction: AsService, account: Account, { now }: Unlinking): Promise<Account> {
  const { user, identities } = account;
  const hasPasswordOnly =
    user.password_hash !== null && !identities.some(({ provider }) => provider === 'email' || provider === 'phone');
  if (!hasPasswordOnly || user.email === null || user.email_confirmed_at === null) return account;
  await confirmAddress(transaction, account, { email: user.email, isProven: false, now });
  return getAccount(transaction, user.id);
}

const SETTLING_MS = 7 * 24 * 3_600_000;

/**
 * Returns the time, in milliseconds, from which an identity counts as the owner's.
 *
 * Threat: the thief of a session links an account of their own and removes the owner's ways to sign in, which moves the
 * account to the thief's address without the mail that a change of the address needs. An identity that replaces an
 * older one must therefore be a week old: the owner got a mail when it was linked.
 */
function trustedFrom(user: UserRow, { provider, created_at: linkedAt }: IdentityRow): number {
  let since = linkedAt;
  if (provider === 'email') since = user.email_confirmed_at ?? linkedAt;
  if (provider === 'phone') since = user.phone_confirmed_at ?? linkedAt;
  return since.getTime() + SETTLING_MS;
}

/**
 * False for an address or number that was never confirmed. Without this check, an owner who removes the last usable
 * identity is locked out.
 */
function canSignIn(user: UserRow, { provider }: IdentityRow): boolean {
  if (provider === 'email') return user.email_confirmed_at !== null;
  if (provider === 'phone') return user.phone_confirmed_at !== null;
  return true;
}

/**
 * Chooses the account's address for the time after the removal, so that a lost mailbox can be removed. The address
 * stays if a remaining identity has verified it. Otherwise it becomes a verified address of a trusted identity that no
 * other account has, or null if the trusted identities have no verified address. `conflict`: all are taken.
 */
async function chooseAddress(
  transaction: AsService,
  user: UserRow,
  { remaining, trusted }: { remaining: readonly IdentityRow[]; trusted: readonly IdentityRow[] },
): Promise<{ email: string | null } | 'conflict'> {
  if (user.email === null || remaining.flatMap(verifiedAddress).includes(user.email)) return { email: user.email };
  const addresses = trusted.flatMap(verifiedAddress);
  for (const email of addresses) {
    if ((await findUserByEmail(transaction, email)) === null) return { email };
  }
  return addresses.length > 0 ? 'conflict' : { email: null };
}

function verifiedAddress({ identity_data: data }: IdentityRow): string[] {
  const { email, email_verified: isVerified } = data;
  return typeof email === 'string' && isVerified === true ? [email] : [];
}

type Change = { user: UserRow; remaining: readonly IdentityRow[]; email: string | null; now: Date };

function changesOf({ user, remaining, email, now }: Change) {
  const has = (name: string): boolean => remaining.some(({ provider }) => provider === name);
  const metadata: JsonObject = { ...user.raw_user_meta_data };
  if (email === null) delete metadata['email'];
  else metadata['email'] = email;
  return {
    ...(email !== user.email && {
      email,
      email_confirmed_at: email === null ? null : now,
      // The provider of a remaining identity has verified it.
      email_proven_at: email === null ? null : now,
      raw_user_meta_data: JSON.stringify(metadata),
    }),
    // The password signs in with the address and with the number, so it goes with the last of the two.
    ...(!has('email') && !has('phone') && { password_hash: null }),
    ...(user.phone !== null && !has('phone') && { phone: null, phone_confirmed_at: null }),
    updated_at: now,
  };
}

/**
 * Threat: a stranger controls the unlinked identity and is still signed in. Ends the other sessions that it started. A
 * session does not record whether it began with the address or the number, so unlinking one of them ends all other
 * sessions and, as a new password does, all access tokens.
 */
async function endSessionsOf(
  transaction: AsService,
  { provider }: IdentityRow,
  { userId, sessionId }: Unlinking,
): Promise<string[]> {
  if (provider === 'email' || provider === 'phone')
    return endSessions(transaction, userId, sessionId === null ? { all: true } : { except: sessionId });
  let query = queryBuilder
    .deleteFrom('auth.sessions')
    .where('user_id', '=', userId)
    .where(sql<boolean>`amr @> ${JSON.stringify([{ provider }])}::jsonb`)
    .returning('id');
  if (sessionId !== null) query = query.where('id', '!=', sessionId);
  return (await transaction.run(query)).map((row) => row.id);
}

const recordEvent = (
  transaction: AsService,
  { now, userId, device }: Unlinking,
  event: AuditEvent,
  details: JsonObject,
): Promise<void> => recordAuditEvent(transaction, { at: now, userId, actor: 'user', event, device, details });
