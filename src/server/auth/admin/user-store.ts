/** Lists, creates, changes and soft-deletes accounts for the admin routes and the operator commands. */
import { sql } from 'kysely';
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { JsonObject } from '#server/database/tables.ts';
import {
  accountsQuery,
  emailIdentityData,
  getAccount,
  lockUser,
  syncProviders,
  toAccount,
  updateUser,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEntry, type AuditEvent } from '../accounts/audit-log.ts';
import { deleteSignInMethods } from '../accounts/sign-in-methods.ts';
import { deleteOneTimeTokens } from '../codes/one-time-tokens.ts';
import { checkMetadata, mergeMetadata } from '../http/credentials.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { phoneIdentityData } from '../phone/phone-accounts.ts';
import { endSessions } from '../sessions/sessions.ts';
import type { UserAttributes } from './user-attributes.ts';
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { checkStorableText } from '../http/body.ts';

/** The user or operator who changes an account, with device and time, for the audit log. */
export type Author = Pick<AuditEntry, 'actor' | 'device'> & { now: Date };

type AccountList = {
  page: Page;
  /** A part of the address or of the name; empty for all accounts. */
  filter: string;
  isOldestFirst: boolean;
};

/** Returns a page of accounts and the number of all accounts that match. */
export async function listAccounts(
  service: AsService,
  { page, filter, isOldestFirst }: AccountList,
): Promise<{ accounts: Account[]; total: number }> {
  const pattern = containing(filter);
  const matches =
    filter === ''
      ? sql<boolean>`true`
      : sql<boolean>`("user".email ilike ${pattern} or "user".raw_user_meta_data->>'full_name' ilike ${pattern}
          or "user".raw_user_meta_data->>'name' ilike ${pattern})`;
  const direction = isOldestFirst ? 'asc' : 'desc';
  const [rows, [count]] = await Promise.all([
    service.run(
      accountsQuery()
        .where(matches)
        .orderBy('user.created_at', direction)
        .orderBy('user.id')
        .limit(page.size)
        .offset(page.offset),
    ),
    service.run(
      queryBuilder
        .selectFrom('auth.users as user')
        .select(sql<number>`count(*)::integer`.as('total'))
        .where(matches),
    ),
  ]);
  return { accounts: rows.map(toAccount), total: count!.total };
}

type NewUser = { id: string; attributes: UserAttributes; author: Author };

/** Added to the user's metadata when an administrator confirms the address. */
const CONFIRMED_FACT = { email_verified: true };

/** Requires a transaction. Unlike a sign-up it copies neither address nor number into the user's metadata. */
export async function createUser(transaction: AsService, { id, attributes, author }: NewUser): Promise<Account> {
  const { email, phone, userMetadata, appMetadata } = attributes;
  const { now } = author;
  const [emailConfirmedAt, phoneConfirmedAt] = [
    attributes.confirmsEmail && email !== null ? now : null,
    attributes.confirmsPhone && phone !== null ? now : null,
  ];
  const providers = email === null ? ['phone'] : phone === null ? ['email'] : ['email', 'phone'];
  await transaction.run(
    queryBuilder.insertInto('auth.users').values({
      id,
      email,
      phone,
      password_hash: attributes.passwordHash,
      email_confirmed_at: emailConfirmedAt,
      // The administrator vouches for an address that the request confirms.
      email_proven_at: emailConfirmedAt,
      phone_confirmed_at: phoneConfirmedAt,
      banned_until: attributes.ban?.until ?? null,
      ...(attributes.role !== null && { role: attributes.role }),
      raw_app_meta_data: mergedJson({ provider: providers[0], providers }, appMetadata),
      raw_user_meta_data: mergedJson({}, { ...userMetadata, ...(emailConfirmedAt !== null && CONFIRMED_FACT) }),
      created_at: now,
      updated_at: now,
    }),
  );
  if (email !== null) {
    const data = emailIdentityData(id, email, emailConfirmedAt !== null);
    await saveIdentity(transaction, { userId: id, provider: 'email', data, now });
  }
  if (phone !== null) {
    const data = phoneIdentityData(id, phone, phoneConfirmedAt !== null);
    await saveIdentity(transaction, { userId: id, provider: 'phone', data, now });
  }
  await recordAuditEvent(transaction, { ...auditEntry(id, author), event: 'created_by_admin' });
  return getAccount(transaction, id);
}

const mergedJson = (current: JsonObject, change: JsonObject | null): string =>
  JSON.stringify(checkMetadata(mergeMetadata(current, change ?? {})));

type Address = { value: string | null; confirmedAt: Date | null; isNew: boolean };

/** A new address or number also counts as confirmed if the previous one was: the administrator vouches for it. */
function changeAddress(current: Omit<Address, 'isNew'>, value: string | null, confirms: boolean, now: Date): Address {
  const next = value ?? current.value;
  const confirmedAt = current.confirmedAt ?? (confirms && next !== null ? now : null);
  return { value: next, confirmedAt, isNew: next !== current.value };
}

type Change = { userId: string; attributes: UserAttributes; author: Author };
type ChangedUser = { account: Account; endedSessions: string[] };

/**
 * Requires a transaction. Null if there is no such user. A new password ends every session. A new password, address or
 * number ends links and codes (`deleteOneTimeTokens`).
 */
export async function changeUser(transaction: AsService, change: Change): Promise<ChangedUser | null> {
  const { userId, attributes, author } = change;
  const { passwordHash, userMetadata, appMetadata, role, ban, confirmsEmail, confirmsPhone } = attributes;
  const { now } = author;
  const user = await lockUser(transaction, userId);
  if (!user || user.deleted_at !== null) return null;
  const email = changeAddress(
    { value: user.email, confirmedAt: user.email_confirmed_at },
    attributes.email,
    confirmsEmail,
    now,
  );
  const phone = changeAddress(
    { value: user.phone, confirmedAt: user.phone_confirmed_at },
    attributes.phone,
    confirmsPhone,
    now,
  );
  await updateUser(transaction, userId, {
    email: email.value,
    email_confirmed_at: email.confirmedAt,
    ...(confirmsEmail && email.value !== null && { email_proven_at: user.email_proven_at ?? now }),
    phone: phone.value,
    phone_confirmed_at: phone.confirmedAt,
    ...((email.isNew || phone.isNew) && { is_anonymous: false }),
    ...(passwordHash !== null && { password_hash: passwordHash }),
    ...(role !== null && { role }),
    ...(ban !== null && { banned_until: ban.until }),
    raw_user_meta_data: mergedJson(
      {
        ...user.raw_user_meta_data,
        ...copiedFacts(user, { email, phone }),
        ...(confirmsEmail && email.value !== null && CONFIRMED_FACT),
      },
      userMetadata,
    ),
    raw_app_meta_data: mergedJson(user.raw_app_meta_data, appMetadata),
    updated_at: now,
  });
  if ((email.isNew || confirmsEmail) && email.value !== null && !user.is_sso_user) {
    const data = emailIdentityData(userId, email.value, email.confirmedAt !== null);
    await saveIdentity(transaction, { userId, provider: 'email', data, now });
  }
  if ((phone.isNew || confirmsPhone) && phone.value !== null) {
    const data = phoneIdentityData(userId, phone.value, phone.confirmedAt !== null);
    await saveIdentity(transaction, { userId, provider: 'phone', data, now });
  }
  if ((email.isNew || phone.isNew) && appMetadata === null) await syncProviders(transaction, userId);
  // Threat: the reader of the previous address, or somebody who knew the previous password, may still hold a link or a
  // code.
  if (email.isNew || phone.isNew || passwordHash !== null) await deleteOneTimeTokens(transaction, userId);
  const endedSessions = passwordHash === null ? [] : await endSessions(transaction, userId, { all: true });
  await recordChange(transaction, change);
  return { account: await getAccount(transaction, userId), endedSessions };
}

/** A sign-up copies address and number into the user's metadata. Returns the members that update these copies. */
function copiedFacts({ raw_user_meta_data: metadata }: UserRow, { email, phone }: { email: Address; phone: Address }) {
  return {
    ...(email.isNew && 'email' in metadata && { email: email.value, email_verified: email.confirmedAt !== null }),
    ...(phone.isNew && 'phone' in metadata && { phone: phone.value, phone_verified: phone.confirmedAt !== null }),
  };
}

async function recordChange(transaction: AsService, { userId, attributes, author }: Change): Promise<void> {
  const { email, phone, passwordHash, userMetadata, appMetadata, role, ban } = attributes;
  const values = { email, phone, password: passwordHash, user_metadata: userMetadata, app_metadata: appMetadata, role };
  const confirmations = {
    email_confirm: attributes.confirmsEmail || null,
    phone_confirm: attributes.confirmsPhone || null,
  };
  const fields = Object.entries({ ...values, ...confirmations })
    .filter(([, value]) => value !== null)
    .map(([name]) => name);
  const record = (event: AuditEvent, details: JsonObject): Promise<void> =>
    recordAuditEvent(transaction, { ...auditEntry(userId, author), event, details });
  if (fields.length > 0) await record('changed_by_admin', { fields });
  if (ban !== null) await record(ban.until === null ? 'unbanned' : 'banned', { until: ban.until ?? undefined });
}

/**
 * Requires a transaction. The account can no longer be signed in to, and its row names no person, but its id and its
 * journal stay. Returns the ids of the ended sessions; null if there is no such user.
 */
export async function softDeleteUser(transaction: AsService, userId: string, author: Author): Promise<string[] | null> {
  const user = await lockUser(transaction, userId);
  if (!user || user.deleted_at !== null) return null;
  const endedSessions = await endSessions(transaction, userId, { all: true });
  await deleteSignInMethods(transaction, userId);
  await updateUser(transaction, userId, {
    email: null,
    phone: null,
    new_email: null,
    new_phone: null,
    password_hash: null,
    email_confirmed_at: null,
    email_proven_at: null,
    phone_confirmed_at: null,
    raw_user_meta_data: '{}',
    raw_app_meta_data: '{}',
    deleted_at: author.now,
    updated_at: author.now,
  });
  await recordAuditEvent(transaction, { ...auditEntry(userId, author), event: 'deleted', details: { soft: true } });
  return endedSessions;
}

type AddressIdentity = { userId: string; provider: 'email' | 'phone'; data: JsonObject; now: Date };

async function saveIdentity(transaction: AsService, identity: AddressIdentity): Promise<void> {
  const { userId, provider, now } = identity;
  const data = JSON.stringify(identity.data);
  await transaction.run(
    queryBuilder
      .insertInto('auth.identities')
      .values({ user_id: userId, provider, provider_id: userId, identity_data: data, created_at: now, updated_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'provider_id'])
          .doUpdateSet({ identity_data: sql`identities.identity_data || ${data}::jsonb`, updated_at: now }),
      ),
  );
}

const auditEntry = (userId: string, { actor, device, now }: Author) => ({
  at: now,
  userId,
  actor,
  ...(device && { device }),
});

/** The errors by the unique constraint that a taken attribute violates. */
const TAKEN = {
  users_email_key: 'email_exists',
  users_phone_key: 'phone_exists',
  users_pkey: 'user_id_exists',
} as const;

/** Returns an AuthError for the violation of one of these constraints, and any other error unchanged. */
export function toTakenError(error: unknown): unknown {
  if (!isUniqueViolation(error)) return error;
  const name = TAKEN[error.constraint as keyof typeof TAKEN] as (typeof TAKEN)[keyof typeof TAKEN] | undefined;
  return name === undefined ? error : new AuthError(name);
}

// Pagination of the admin routes: the parameters `page` and `per_page`, and the headers that link to other pages.

const DEFAULT_PER_PAGE = 50;
const MAX_PER_PAGE = 1_000;

type Page = { number: number; size: number; offset: number };

/** supabase-js sends an empty text for an omitted parameter. A size over 1,000 counts as 1,000. Throws an AuthError. */
export function readPage(context: Context<AppEnv>): Page {
  // Page 0 is the first one, as in supabase/auth.
  const number = Math.max(1, readCount(context, 'page', 1, /^\d{1,9}$/));
  const size = Math.min(readCount(context, 'per_page', DEFAULT_PER_PAGE, /^[1-9]\d{0,8}$/), MAX_PER_PAGE);
  return { number, size, offset: (number - 1) * size };
}

function readCount(context: Context<AppEnv>, name: string, otherwise: number, form: RegExp): number {
  const text = context.req.query(name) ?? '';
  if (text === '') return otherwise;
  if (!form.test(text)) throw invalidRequest(`Bad Pagination Parameters: ${name} must be a positive number`);
  return Number(text);
}

/**
 * `page` must be the first parameter of a link: supabase-js reads the page number after the first `=`. The links keep
 * the request's other parameters.
 */
export function setPageHeaders(context: Context<AppEnv>, { number, size }: Page, total: number): void {
  const last = Math.max(1, Math.ceil(total / size));
  const kept = new URL(context.req.url).searchParams;
  for (const name of ['page', 'per_page']) kept.delete(name);
  const linkTo = (page: number, rel: string): string =>
    `<${context.req.path}?${[`page=${page}&per_page=${size}`, ...(kept.size > 0 ? [kept.toString()] : [])].join('&')}>; rel="${rel}"`;
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')];
  context.header('X-Total-Count', String(total));
  context.header('Link', links.join(', '));
}

/** Returns an empty text for a missing parameter. Throws an AuthError for text that PostgreSQL cannot compare with. */
export function readQueryText(context: Context<AppEnv>, name: string): string {
  const text = context.req.query(name) ?? '';
  checkStorableText(text);
  return text;
}

/** A pattern of `ilike` for the texts that contain this one. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
