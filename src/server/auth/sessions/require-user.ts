/** Authenticates a request to a protected route, with the checks of docs/specification/api.md 5 in its order. */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { isBanned, lockUser, type Account, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { readBearer } from '../http/bearer.ts';
import { AuthError } from '../http/errors.ts';
import { UUID } from '../keys/access-tokens.ts';
import { findAccountAndSession, type SessionRow } from './sessions.ts';

/** Only the operator signs tokens without a `session_id` claim: `session` is null for them. */
export type AuthenticatedUser = { account: Account; session: SessionRow | null };

export async function requireUser(context: Context<AppEnv>, deps: AuthDeps): Promise<AuthenticatedUser> {
  const claims = await readBearer(context, deps);
  if (claims.sub === '') throw new AuthError(403, 'bad_jwt', 'invalid claim: missing sub claim');
  if (!UUID.test(claims.sub)) throw new AuthError(400, 'bad_jwt', 'invalid claim: sub claim must be a UUID');

  const found = await findAccountAndSession(
    deps.database.asService('authenticate a user'),
    claims.sub,
    claims.sessionId,
  );
  if (!found) throw new AuthError('user_not_found');
  const { account, session } = found;
  if (claims.sessionId !== null && !session) throw new AuthError('session_not_found');
  if (isBanned(account.user, deps.clock.now())) throw new AuthError('user_banned');
  context.set('userId', account.user.id);
  return { account, session };
}

/**
 * Requires a transaction. Locks the session, so that a request that ends it must wait. Throws `session_not_found` if
 * the session has ended. Call it before a change that must not outlive the session: hashing a password or checking a
 * signature has taken time since the session was first checked. No-op for a token without a session.
 */
export async function requireLiveSession(transaction: AsService, session: SessionRow | null): Promise<void> {
  if (session === null) return;
  const rows = await transaction.run(
    queryBuilder.selectFrom('auth.sessions').select('id').where('id', '=', session.id).forKeyShare(),
  );
  if (rows.length === 0) throw new AuthError('session_not_found');
}

/**
 * Requires a transaction. Locks the user's row and then requires the live session, in this order: a claim of the
 * account (`codes/claim-account.ts`) locks the row first as well. So a change of how the account is signed in to either
 * commits before the claim, which undoes it, or finds its session ended.
 */
export async function lockSignedInUser(
  transaction: AsService,
  userId: string,
  session: SessionRow | null,
): Promise<UserRow | null> {
  const user = await lockUser(transaction, userId);
  await requireLiveSession(transaction, session);
  return user;
}

export const hasVerifiedFactor = ({ factors }: Pick<Account, 'factors'>): boolean =>
  factors.some((factor) => factor.status === 'verified');

/**
 * True for a user with a verified second factor whose session, if any, has not passed the second step. Such a session
 * may see the account, but neither change how it is signed in to nor read any data (docs/specification/api.md 31).
 */
export const lacksSecondStep = (account: Account, session: SessionRow | null): boolean =>
  hasVerifiedFactor(account) && (session === null || session.aal === 'aal1');

/** A user who is not anonymous, in a session. */
export type Member = { account: Account; session: SessionRow };

/**
 * Throws `no_authorization` for anonymous users, and `session_not_found` for tokens without a session, which have
 * nothing to raise to `aal2`.
 */
export function checkMember({ account, session }: AuthenticatedUser): Member {
  if (account.user.is_anonymous)
    throw new AuthError(403, 'no_authorization', 'Anonymous user not allowed to perform these actions');
  if (session === null) throw new AuthError('session_not_found');
  return { account, session };
}
