/** The rows of personal access tokens, and what their names, scopes and lifetimes may be. */
import {
  MAX_TOKENS,
  TOKEN_NAME_MAX_LENGTH,
  TOKEN_SCOPES,
  type ListedToken,
  type TokenDays,
  type TokenScope,
} from '#domain/account/access-token.ts';
import { stripInvisible } from '#domain/strip-invisible.ts';
import type { AsService } from '#server/database/database.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { hashOf, makeToken } from '../keys/personal-tokens.ts';

const DAY_MS = 24 * 3_600_000;

/** A name that is shown to the user: visible characters, single spaces. Throws `validation_failed`. */
export function checkName(text: string): string {
  const name = stripInvisible(text).replaceAll(/\s+/g, ' ').trim();
  if (name === '' || name.length > TOKEN_NAME_MAX_LENGTH)
    throw invalidRequest(`name must have 1 to ${TOKEN_NAME_MAX_LENGTH} characters`);
  return name;
}

const isScope = (text: string): text is TokenScope => (TOKEN_SCOPES as readonly string[]).includes(text);

/** Returns each scope once, in the order of `TOKEN_SCOPES`. Throws `validation_failed`. */
export function checkScopes(texts: readonly string[]): TokenScope[] {
  if (texts.length === 0 || !texts.every(isScope))
    throw invalidRequest(`scopes must be among ${TOKEN_SCOPES.join(' and ')}`);
  return TOKEN_SCOPES.filter((scope) => texts.includes(scope));
}

const TIME_ZONE = /^[A-Za-z0-9+_/-]{1,64}$/;
/** Null for a name that cannot be one of the tz database. */
export const checkTimeZone = (text: string): string | null => (TIME_ZONE.test(text) ? text : null);

const COLUMNS = 'id, name, scopes, created_at, expires_at, last_used_at';
type Row = {
  id: string;
  name: string;
  scopes: TokenScope[];
  created_at: Date;
  expires_at: Date;
  last_used_at: Date | null;
};

const toListed = ({ created_at, expires_at, last_used_at, ...row }: Row): ListedToken => ({
  ...row,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
});

/** The tokens that have not expired, newest first. */
export async function listTokens(service: AsService, userId: string, now: Date): Promise<ListedToken[]> {
  const { rows } = await service.statement<Row>(
    `select ${COLUMNS} from public.access_tokens
      where user_id = $1 and expires_at > $2 order by created_at desc, id limit ${MAX_TOKENS}`,
    [userId, now],
  );
  return rows.map(toListed);
}

export type NewToken = {
  userId: string;
  name: string;
  scopes: readonly TokenScope[];
  days: TokenDays;
  timeZone: string | null;
  now: Date;
};

/** Requires a transaction that has locked the user. Deletes expired tokens first. Throws `too_many_tokens`. */
export async function createToken(
  transaction: AsService,
  { userId, name, scopes, days, timeZone, now }: NewToken,
): Promise<ListedToken & { token: string }> {
  await transaction.statement('delete from public.access_tokens where user_id = $1 and expires_at <= $2', [
    userId,
    now,
  ]);
  if ((await listTokens(transaction, userId, now)).length >= MAX_TOKENS) throw new AuthError('too_many_tokens');
  const token = makeToken(userId);
  const { rows } = await transaction.statement<Row>(
    `insert into public.access_tokens (user_id, name, scopes, token_hash, time_zone, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [userId, name, scopes, hashOf(token), timeZone, now, new Date(now.getTime() + days * DAY_MS)],
  );
  return { ...toListed(rows[0]!), token };
}

/** Returns its name; null if the user has no such token. */
export async function deleteToken(service: AsService, userId: string, id: string): Promise<string | null> {
  const { rows } = await service.statement<{ name: string }>(
    'delete from public.access_tokens where user_id = $1 and id = $2 returning name',
    [userId, id],
  );
  return rows[0]?.name ?? null;
}

/** Returns its id; null if the user has no such token. */
export async function deleteTokenByHash(service: AsService, userId: string, hash: Buffer): Promise<string | null> {
  const { rows } = await service.statement<{ id: string }>(
    'delete from public.access_tokens where user_id = $1 and token_hash = $2 returning id',
    [userId, hash],
  );
  return rows[0]?.id ?? null;
}
