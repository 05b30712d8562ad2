/**
 * Refresh token rotation with reuse detection: a token is used once, and its reuse ends the session, because one of the
 * two parties that presented the token may be a thief.
 *
 * Honest browsers reuse a token in two cases: two tabs refresh concurrently, or the response with the new token is
 * lost. In either case the browser gets the active token (docs/specification/wire.md 10 b, c). Only hashes are stored,
 * so the active token must be computable from the presented token: a token is the HMAC of its parent, with a salt from
 * its row and a key from outside the database. A holder of a parent token could get its child anyway; a reader of the
 * database can compute nothing.
 *
 * Threat: an owner and a thief who hold the same token alternate. One rotates it, the other presents the parent and
 * gets the active token, and so on; reuse would never be detected. After the reuse window the parent is therefore
 * accepted only as often and as long as a lost response needs:
 * - Not twice in a row. A token that was reissued for a late parent is not accepted as a late parent itself. An honest
 *   browser uses the token that it got, so its next refresh presents the active token. Of two parties who share a
 *   session, the slower one is late again at the next refresh, and the session ends.
 * - Not after two days. A journal is opened once a day: a response that was lost when the phone was put away is
 *   requested again on the next evening.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

const REUSE_WINDOW_MS = 10_000;
const LOST_RESPONSE_WINDOW_MS = 48 * 3_600_000;
/** How many used tokens a session stores to detect reuse: about eight days of hourly refreshes. */
const MAX_STORED_GENERATIONS = 200;

/**
 * Issued tokens have 43 characters. The range also accepts other issuers' tokens: they are then unknown, not malformed.
 */
export const hasRefreshTokenFormat = (token: string): boolean => /^[A-Za-z0-9_-]{12,128}$/.test(token);

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export const createFirstRefreshToken = () => withHash(randomBytes(32).toString('base64url'), randomBytes(16));

type SessionRow = Selectable<AuthTables['auth.sessions']>;
type TokenRow = Selectable<AuthTables['auth.refresh_tokens']>;

export type RenewalResult =
  | { outcome: 'renewed'; token: string; session: SessionRow }
  | { outcome: 'unknown' }
  /** The session has been deleted; its owner must sign in again. */
  | { outcome: 'reused'; sessionId: string };

type RenewalRequest = { token: string; now: Date; key: Buffer; ip: string; userAgent: string | null };

/** Requires a transaction. Locks the session's row first, which serializes the renewals of a session. */
export async function renewSession(transaction: AsService, request: RenewalRequest): Promise<RenewalResult> {
  const [found] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sessions as session')
      .innerJoin('auth.refresh_tokens as token', 'token.session_id', 'session.id')
      .selectAll('session')
      .select('token.generation')
      .where('token.token_hash', '=', hashToken(request.token))
      .forUpdate('session'),
  );
  if (!found) return { outcome: 'unknown' };
  const { generation, ...session } = found;

  // Read after locking, to see the result of the previous renewal.
  const [used, ...descendants] = await transaction.run(
    queryBuilder
      .selectFrom('auth.refresh_tokens')
      .selectAll()
      .where('session_id', '=', session.id)
      .where('generation', '>=', generation)
      .orderBy('generation'),
  );
  if (!used) return { outcome: 'unknown' };
  const successor = descendants[0];
  if (!successor) return { outcome: 'renewed', token: await rotate(transaction, used, request), session };

  const replacedMsAgo = request.now.getTime() - successor.created_at.getTime();
  if (replacedMsAgo >= REUSE_WINDOW_MS) {
    const isLostResponse =
      descendants.length === 1 && used.reissued_at === null && replacedMsAgo < LOST_RESPONSE_WINDOW_MS;
    if (!isLostResponse) {
      await transaction.run(queryBuilder.deleteFrom('auth.sessions').where('id', '=', session.id).returning('id'));
      return { outcome: 'reused', sessionId: session.id };
    }
    await markReissued(transaction, successor, request.now);
  }
  const active = deriveActiveToken(request, descendants);
  if (active !== null) return { outcome: 'renewed', token: active, session };
  // The signing key was replaced, so the active token cannot be derived: issue a new one.
  return { outcome: 'renewed', token: await rotate(transaction, descendants.at(-1)!, request), session };
}

async function markReissued(transaction: AsService, token: TokenRow, now: Date): Promise<void> {
  await transaction.run(
    queryBuilder
      .updateTable('auth.refresh_tokens')
      .set({ reissued_at: now })
      .where('session_id', '=', token.session_id)
      .where('generation', '=', token.generation)
      .returning('generation'),
  );
}

async function rotate(transaction: AsService, from: TokenRow, request: RenewalRequest): Promise<string> {
  const salt = randomBytes(16);
  const next = withHash(deriveChildToken(request.token, salt, request.key), salt);
  const { session_id, generation } = from;
  await transaction.run(
    queryBuilder
      .with('pruned', (query) =>
        query
          .deleteFrom('auth.refresh_tokens')
          .where('session_id', '=', session_id)
          .where('generation', '<=', generation - MAX_STORED_GENERATIONS),
      )
      .with('used', (query) =>
        query
          .updateTable('auth.sessions')
          .set({ refreshed_at: request.now, ip: request.ip, user_agent: request.userAgent })
          .where('id', '=', session_id),
      )
      .insertInto('auth.refresh_tokens')
      .values({
        session_id,
        generation: generation + 1,
        token_hash: next.hash,
        salt: next.salt,
        created_at: request.now,
      })
      .returning('generation'),
  );
  return next.token;
}

/** Derives the active token from an ancestor. Null if the stored hashes do not match, because the key was replaced. */
function deriveActiveToken(request: RenewalRequest, descendants: readonly TokenRow[]): string | null {
  let token = request.token;
  for (const row of descendants) {
    token = deriveChildToken(token, row.salt, request.key);
    if (!hashToken(token).equals(row.token_hash)) return null;
  }
  return token;
}

const deriveChildToken = (parent: string, salt: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(salt).update(parent).digest('base64url');

const withHash = (token: string, salt: Buffer) => ({ token, hash: hashToken(token), salt });
