/**
 * Refresh token rotation with reuse detection: a token is used once, and its reuse ends the session, because one of the
 * two parties that presented the token may be a thief.
 *
 * Honest browsers reuse a token in two cases: two tabs refresh concurrently, or the response with the new token is
 * lost. In either case the browser gets the active token (docs/specification/api.md 10 b, c). Only hashes are stored,
 * so the active token must be computable from the presented token: a token is the HMAC of its parent, with a salt from
 * its row and a key derived from the signing keys. A holder of a parent token could get its child anyway; a reader of
 * the table can compute nothing.
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
import { createHash, randomBytes } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { prepareQuery, queryBuilder } from '#server/database/query-builder.ts';
import type { Tables } from '#server/database/tables.ts';
import { accountsQuery, isBanned, toAccount, type Account } from '../accounts/accounts.ts';
import { hmac } from '../keys/sealed.ts';

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

type SessionRow = Selectable<Tables['auth.sessions']>;
type TokenRow = Selectable<Tables['auth.refresh_tokens']>;

export type RenewalResult =
  | { outcome: 'renewed'; token: string; session: SessionRow }
  | { outcome: 'unknown' }
  /** The token was not rotated, so it still works after the ban. */
  | { outcome: 'banned' }
  /** The session has been deleted; its owner must sign in again. */
  | { outcome: 'reused'; sessionId: string };

type RenewalRequest = { token: string; now: Date; key: Buffer; ip: string; userAgent: string | null };

/**
 * Rotates the active token in one statement and returns the account with it. It is an optimistic lock: each statement
 * that adds a token to a session also updates the session's row, so `xmin` tells whether another renewal or the second
 * step of the sign-in came first. In that case no row is updated, as with a token that is not active or a banned user.
 */
export const ROTATE_ACTIVE = prepareQuery(
  (values: { tokenHash: Buffer; childHash: Buffer; salt: Buffer; now: Date; ip: string; userAgent: string | null }) =>
    queryBuilder
      .with('found', (query) =>
        query
          .selectFrom('auth.refresh_tokens as token')
          .innerJoin('auth.sessions as session', 'session.id', 'token.session_id')
          .innerJoin('auth.users as user', 'user.id', 'session.user_id')
          .select(['session.id', 'token.generation', sql<string>`session.xmin`.as('version')])
          .where('token.token_hash', '=', values.tokenHash)
          .where((row) => row.or([row('user.banned_until', 'is', null), row('user.banned_until', '<=', values.now)]))
          .where((row) =>
            row.not(
              row.exists(
                row
                  .selectFrom('auth.refresh_tokens as later')
                  .select('later.generation')
                  .whereRef('later.session_id', '=', 'token.session_id')
                  .whereRef('later.generation', '>', 'token.generation'),
              ),
            ),
          ),
      )
      .with('renewed', (query) =>
        query
          .updateTable('auth.sessions as session')
          .from('found')
          .set({ refreshed_at: values.now, ip: values.ip, user_agent: values.userAgent })
          .whereRef('session.id', '=', 'found.id')
          .where(sql<boolean>`session.xmin = found.version`)
          .returningAll('session')
          .returning('found.generation'),
      )
      .with('inserted', (query) =>
        query
          .insertInto('auth.refresh_tokens')
          .columns(['session_id', 'generation', 'token_hash', 'salt', 'created_at'])
          .expression((from) =>
            from
              .selectFrom('renewed')
              .select((row) => [
                'renewed.id',
                row('renewed.generation', '+', 1).as('generation'),
                sql<Buffer>`${values.childHash}::bytea`.as('token_hash'),
                sql<Buffer>`${values.salt}::bytea`.as('salt'),
                sql<Date>`${values.now}::timestamptz`.as('created_at'),
              ]),
          ),
      )
      .with('pruned', (query) =>
        query
          .deleteFrom('auth.refresh_tokens')
          .using('renewed')
          .whereRef('auth.refresh_tokens.session_id', '=', 'renewed.id')
          .where((row) =>
            row('auth.refresh_tokens.generation', '<=', row('renewed.generation', '-', MAX_STORED_GENERATIONS)),
          ),
      )
      .selectFrom(accountsQuery().as('account'))
      .innerJoin('renewed', 'renewed.user_id', 'account.id')
      .selectAll('account')
      .select(['renewed.id as session_id', 'renewed.aal as session_aal', 'renewed.amr as session_amr']),
);

export type Rotation = { account: Account; session: Pick<SessionRow, 'id' | 'aal' | 'amr'>; token: string };

/** The common case of `renewSession`. Null in any other case, and then nothing has changed. */
export async function rotateActiveToken(service: AsService, request: RenewalRequest): Promise<Rotation | null> {
  const salt = randomBytes(16);
  const next = withHash(deriveChildToken(request.token, salt, request.key), salt);
  const { now, ip, userAgent } = request;
  const [row] = await ROTATE_ACTIVE.run(service, {
    tokenHash: hashToken(request.token),
    childHash: next.hash,
    salt,
    now,
    ip,
    userAgent,
  });
  if (!row) return null;
  const { session_id: id, session_aal: aal, session_amr: amr, ...account } = row;
  return { account: toAccount(account), session: { id, aal, amr }, token: next.token };
}

/** Requires a transaction. Locks the session's row first, which serializes the renewals of a session. */
export async function renewSession(transaction: AsService, request: RenewalRequest): Promise<RenewalResult> {
  const [found] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sessions as session')
      .innerJoin('auth.refresh_tokens as token', 'token.session_id', 'session.id')
      .innerJoin('auth.users as user', 'user.id', 'session.user_id')
      .selectAll('session')
      .select(['token.generation', 'user.banned_until'])
      .where('token.token_hash', '=', hashToken(request.token))
      .forUpdate('session'),
  );
  if (!found) return { outcome: 'unknown' };
  const { generation, banned_until, ...session } = found;
  if (isBanned({ banned_until }, request.now)) return { outcome: 'banned' };

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
  if (!successor) return { outcome: 'renewed', token: await rotateToken(transaction, used, request), session };

  const replacedMsAgo = request.now.getTime() - successor.created_at.getTime();
  if (replacedMsAgo >= REUSE_WINDOW_MS) {
    const isLostResponse =
      descendants.length === 1 && used.reissued_at === null && replacedMsAgo < LOST_RESPONSE_WINDOW_MS;
    if (!isLostResponse) {
      await transaction.run(queryBuilder.deleteFrom('auth.sessions').where('id', '=', session.id));
      return { outcome: 'reused', sessionId: session.id };
    }
    await markReissued(transaction, successor, request.now);
  }
  const active = deriveActiveToken(request, descendants);
  if (active !== null) return { outcome: 'renewed', token: active, session };
  // The operator replaced the root of the signing keys (a rotation keeps it). Without the earlier root the active token
  // cannot be derived: issue a new one.
  return { outcome: 'renewed', token: await rotateToken(transaction, descendants.at(-1)!, request), session };
}

async function markReissued(transaction: AsService, token: TokenRow, now: Date): Promise<void> {
  await transaction.run(
    queryBuilder
      .updateTable('auth.refresh_tokens')
      .set({ reissued_at: now })
      .where('session_id', '=', token.session_id)
      .where('generation', '=', token.generation),
  );
}

async function rotateToken(transaction: AsService, from: TokenRow, request: RenewalRequest): Promise<string> {
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
      }),
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
  hmac(key).update(salt).update(parent).digest('base64url');

const withHash = (token: string, salt: Buffer) => ({ token, hash: hashToken(token), salt });
