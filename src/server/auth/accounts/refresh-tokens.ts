/**
 * Refresh tokens: each is used once, and using one twice ends the session, because one of the two users is a thief.
 *
 * Except that honest browsers also use one twice: two tabs wake at the same moment, or the answer with the new token is
 * lost on the way. Both are given the active token again (docs/specification/wire.md 10 b, c). Only hashes are stored, so the
 * active token must be computable from the one presented: a token is the HMAC of its parent, with a salt from its row
 * and a key from outside the database. Who has a parent token can have its child anyway; who has only read the
 * database can compute nothing.
 *
 * Threat: an owner and a thief who hold the same token take limiter. One renews, the other presents what is now the parent
 * and gets the active token, and so on, and reuse is never noticed. So the parent is accepted after the reuse window only
 * as often and as long as a lost answer needs:
 * - Not twice in a row. A token that was itself handed out to a late parent is no late parent at the next turn. An honest
 *   browser uses what it got, so its next renewal comes with the active token; of two who share a session, the slower one
 *   comes late again at the very next turn, and the session ends.
 * - Not after two days. A journal is opened once a day: an answer that was lost when the phone was put away is asked for
 *   again on the next evening. A used token that is older than that is nobody's lost answer.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AuthTables } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

const REUSE_WINDOW_MS = 10_000;
const LOST_RESPONSE_WINDOW_MS = 48 * 3_600_000;
/** How many used tokens a session remembers in order to notice their reuse: about eight days of hourly renewal. */
const MAX_STORED_GENERATIONS = 200;

/** Ours have 43 characters; anything that could be somebody's token is looked up, the rest is malformed. */
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

type Presented = { token: string; now: Date; key: Buffer; ip: string; userAgent: string | null };

/** To be run in a transaction: the session's row is locked first, so one session's renewals happen one after another. */
export async function renewSession(transaction: AsService, presented: Presented): Promise<RenewalResult> {
  const [found] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sessions as session')
      .innerJoin('auth.refresh_tokens as token', 'token.session_id', 'session.id')
      .selectAll('session')
      .select('token.generation')
      .where('token.token_hash', '=', hashToken(presented.token))
      .forUpdate('session'),
  );
  if (!found) return { outcome: 'unknown' };
  const { generation, ...session } = found;

  // Read after the lock was given: whatever a renewal before this one did is seen.
  const [own, ...later] = await transaction.run(
    queryBuilder
      .selectFrom('auth.refresh_tokens')
      .selectAll()
      .where('session_id', '=', session.id)
      .where('generation', '>=', generation)
      .orderBy('generation'),
  );
  if (!own) return { outcome: 'unknown' };
  const successor = later[0];
  if (!successor) return { outcome: 'renewed', token: await rotate(transaction, own, presented), session };

  const replacedMsAgo = presented.now.getTime() - successor.created_at.getTime();
  if (replacedMsAgo >= REUSE_WINDOW_MS) {
    const isLostResponse = later.length === 1 && own.reissued_at === null && replacedMsAgo < LOST_RESPONSE_WINDOW_MS;
    if (!isLostResponse) {
      await transaction.run(queryBuilder.deleteFrom('auth.sessions').where('id', '=', session.id).returning('id'));
      return { outcome: 'reused', sessionId: session.id };
    }
    await markReissued(transaction, successor, presented.now);
  }
  const active = deriveActiveToken(presented, later);
  if (active !== null) return { outcome: 'renewed', token: active, session };
  // The signing key has been replaced since, so the active token cannot be computed: a new one takes its place.
  return { outcome: 'renewed', token: await rotate(transaction, later.at(-1)!, presented), session };
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

async function rotate(transaction: AsService, from: TokenRow, presented: Presented): Promise<string> {
  const salt = randomBytes(16);
  const next = withHash(deriveChildToken(presented.token, salt, presented.key), salt);
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
          .set({ refreshed_at: presented.now, ip: presented.ip, user_agent: presented.userAgent })
          .where('id', '=', session_id),
      )
      .insertInto('auth.refresh_tokens')
      .values({
        session_id,
        generation: generation + 1,
        token_hash: next.hash,
        salt: next.salt,
        created_at: presented.now,
      })
      .returning('generation'),
  );
  return next.token;
}

/** The active token, computed from an ancestor; null when the stored hashes say that the key was another. */
function deriveActiveToken(presented: Presented, later: readonly TokenRow[]): string | null {
  let token = presented.token;
  for (const row of later) {
    token = deriveChildToken(token, row.salt, presented.key);
    if (!hashToken(token).equals(row.token_hash)) return null;
  }
  return token;
}

const deriveChildToken = (parent: string, salt: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(salt).update(parent).digest('base64url');

const withHash = (token: string, salt: Buffer) => ({ token, hash: hashToken(token), salt });
