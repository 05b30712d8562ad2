/** Creates, changes and soft-deletes accounts for the admin routes and the operator commands. */
import { sql } from 'kysely';
import pg from 'pg';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import {
  EMAIL_APP_METADATA,
  accountsQuery,
  emailIdentityData,
  getAccount,
  syncProviders,
  toAccount,
  updateUser,
} from '../accounts/accounts.ts';
import type { Account, UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { AuditEntry, AuditEvent } from '../accounts/audit-log.ts';
import { deleteSignInMethods } from '../accounts/external-identity.ts';
import { deleteOneTimeTokens } from '../accounts/one-time-tokens.ts';
import { endSessions } from '../accounts/sessions.ts';
import { checkMetadata, mergeMetadata } from '../wire/credentials.ts';
import { AuthError } from '../wire/errors.ts';
import type { Page } from './paging.ts';
import type { UserAttributes } from './user-attributes.ts';

/** Names who changes an account in the audit log. */
export type Author = Pick<AuditEntry, 'actor' | 'device'> & { now: Date };

/** Newest first. */
export async function listAccounts(service: AsService, page: Page): Promise<{ accounts: Account[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    service.run(
      accountsQuery().orderBy('user.created_at', 'desc').orderBy('user.id').limit(page.size).offset(page.offset),
    ),
    service.run(queryBuilder.selectFrom('auth.users').select(sql<number>`count(*)::integer`.as('total'))),
  ]);
  return { accounts: rows.map(toAccount), total: count!.total };
}

type NewUser = { id: string; attributes: UserAttributes; author: Author };

/** Requires a transaction. Unlike a sign-up it adds nothing to the user's metadata. */
export async function createUser(transaction: AsService, { id, attributes, author }: NewUser): Promise<Account> {
  const { email, confirmsEmail, userMetadata, appMetadata } = attributes;
  const { now } = author;
  await transaction.run(
    queryBuilder
      .insertInto('auth.users')
      .values({
        id,
        email,
        password_hash: attributes.passwordHash,
        email_confirmed_at: email !== null && confirmsEmail ? now : null,
        banned_until: attributes.ban?.until ?? null,
        ...(attributes.role !== null && { role: attributes.role }),
        raw_app_meta_data: mergedJson(EMAIL_APP_METADATA, appMetadata),
        raw_user_meta_data: mergedJson({}, userMetadata),
        created_at: now,
        updated_at: now,
      })
      .returning('id'),
  );
  if (email !== null) await saveEmailIdentity(transaction, { userId: id, email, verified: confirmsEmail, now });
  await recordAuditEvent(transaction, { ...auditEntry(id, author), event: 'created_by_admin' });
  return getAccount(transaction, id);
}

const mergedJson = (current: JsonObject, change: JsonObject | null): string =>
  JSON.stringify(checkMetadata(mergeMetadata(current, change ?? {})));

type Change = { userId: string; attributes: UserAttributes; author: Author };
type ChangedUser = { account: Account; endedSessions: string[] };

/** Requires a transaction. Null if there is no such user. A new password ends every session, link and code. */
export async function changeUser(transaction: AsService, change: Change): Promise<ChangedUser | null> {
  const { userId, attributes, author } = change;
  const { email, passwordHash, userMetadata, appMetadata, role, ban, confirmsEmail } = attributes;
  const { now } = author;
  const user = await lockUser(transaction, userId);
  if (!user) return null;
  const changesEmail = email !== null && email !== user.email;
  const confirmedAt = user.email_confirmed_at ?? (confirmsEmail && (email ?? user.email) !== null ? now : null);
  const verified = confirmedAt !== null;
  // A sign-up copies the address into the metadata.
  const addressFacts = changesEmail && 'email' in user.raw_user_meta_data ? { email, email_verified: verified } : {};
  await updateUser(transaction, userId, {
    ...(changesEmail && { email }),
    email_confirmed_at: confirmedAt,
    ...(passwordHash !== null && { password_hash: passwordHash }),
    ...(role !== null && { role }),
    ...(ban !== null && { banned_until: ban.until }),
    raw_user_meta_data: mergedJson({ ...user.raw_user_meta_data, ...addressFacts }, userMetadata),
    raw_app_meta_data: mergedJson(user.raw_app_meta_data, appMetadata),
    updated_at: now,
  });
  if ((changesEmail || confirmsEmail) && !user.is_sso_user && (email ?? user.email) !== null) {
    await saveEmailIdentity(transaction, { userId, email: (email ?? user.email)!, verified, now });
    if (appMetadata === null) await syncProviders(transaction, userId);
  }
  // Threat: links that the previous address or the previous password holder still has.
  if (changesEmail || passwordHash !== null) await deleteOneTimeTokens(transaction, userId);
  const endedSessions = passwordHash === null ? [] : await endSessions(transaction, userId, { all: true });
  await recordChange(transaction, change);
  return { account: await getAccount(transaction, userId), endedSessions };
}

async function recordChange(transaction: AsService, { userId, attributes, author }: Change): Promise<void> {
  const { email, passwordHash, userMetadata, appMetadata, role, ban, confirmsEmail } = attributes;
  const values = { email, password: passwordHash, user_metadata: userMetadata, app_metadata: appMetadata, role };
  const fields = Object.entries({ ...values, email_confirm: confirmsEmail || null })
    .filter(([, value]) => value !== null)
    .map(([name]) => name);
  const record = (event: AuditEvent, details: JsonObject): Promise<void> =>
    recordAuditEvent(transaction, { ...auditEntry(userId, author), event, details });
  if (fields.length > 0) await record('changed_by_admin', { fields });
  if (ban !== null) await record(ban.until === null ? 'unbanned' : 'banned', { until: ban.until ?? undefined });
}

/**
 * Requires a transaction. Null if there is no such user. The account can no longer be opened and names nobody, but its id
 * and its logs stay.
 */
export async function softDeleteUser(transaction: AsService, userId: string, author: Author): Promise<string[] | null> {
  const user = await lockUser(transaction, userId);
  if (!user) return null;
  const endedSessions = await endSessions(transaction, userId, { all: true });
  await deleteSignInMethods(transaction, userId);
  await updateUser(transaction, userId, {
    email: null,
    phone: null,
    new_email: null,
    new_phone: null,
    password_hash: null,
    email_confirmed_at: null,
    phone_confirmed_at: null,
    raw_user_meta_data: '{}',
    raw_app_meta_data: '{}',
    deleted_at: author.now,
    updated_at: author.now,
  });
  await recordAuditEvent(transaction, { ...auditEntry(userId, author), event: 'deleted', details: { soft: true } });
  return endedSessions;
}

async function lockUser(transaction: AsService, id: string): Promise<UserRow | null> {
  const rows = await transaction.run(
    queryBuilder.selectFrom('auth.users').selectAll().where('id', '=', id).where('deleted_at', 'is', null).forUpdate(),
  );
  return rows[0] ?? null;
}

type EmailIdentity = { userId: string; email: string; verified: boolean; now: Date };

async function saveEmailIdentity(transaction: AsService, identity: EmailIdentity): Promise<void> {
  const { userId, email, verified, now } = identity;
  const data = JSON.stringify(emailIdentityData(userId, email, verified));
  await transaction.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({
        user_id: userId,
        provider: 'email',
        provider_id: userId,
        identity_data: data,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict.columns(['provider', 'provider_id']).doUpdateSet({
          identity_data: sql`identities.identity_data || ${data}::jsonb`,
          updated_at: now,
        }),
      )
      .returning('id'),
  );
}

const auditEntry = (userId: string, { actor, device, now }: Author) => ({
  at: now,
  userId,
  actor,
  ...(device && { device }),
});

/** The constraints that a taken attribute violates. */
const TAKEN = {
  users_email_key: 'email_exists',
  users_phone_key: 'phone_exists',
  users_pkey: 'user_id_exists',
} as const;

/** Translates the violation of a unique constraint of `auth.users`. */
export function toTakenError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return error;
  const name = TAKEN[error.constraint as keyof typeof TAKEN] as (typeof TAKEN)[keyof typeof TAKEN] | undefined;
  return name === undefined ? error : new AuthError(name);
}
