/** Completes a second step: accepts its proof, raises the session to `aal2` and responds with new tokens. */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AuthenticationMethod } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { getAccount, lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEvent } from '../accounts/audit-log.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError, type AuthErrorName } from '../http/errors.ts';
import type { Refund } from '../http/rate-limits.ts';
import { rememberDevice } from '../sessions/device-cookie.ts';
import { createFirstRefreshToken } from '../sessions/refresh-tokens.ts';
import type { Member } from '../sessions/require-user.ts';
import { sessionResponse } from '../sessions/session-response.ts';
import { endSessions, type SessionRow, type StartedSession } from '../sessions/sessions.ts';
import { mailFactorGuesses } from './factor-mails.ts';

/**
 * Counts a guess before it is compared. Guesses are counted by the method that started the session. Threat: a stranger
 * who knows the password uses up all guesses every day. A session that a mailed link started has its own guesses, so
 * the owner still gets in.
 *
 * @param secret names the guessed secret, for example by the factor's id
 */
export async function countGuess(
  deps: AuthDeps,
  { account, session }: Member,
  secret: string,
  limitError: AuthErrorName = 'over_request_rate_limit',
): Promise<Refund> {
  try {
    return await deps.limits.consumeFactorGuess(`${secret}:${session.amr.at(-1)?.method ?? ''}`);
  } catch (error) {
    if (!(error instanceof AuthError) || error.status !== 429) throw error;
    await mailFactorGuesses(deps, account.user);
    throw new AuthError(limitError, '', error.retryAfterSeconds);
  }
}

/**
 * Records the wrong answer and throws `mfa_verification_failed`. Beyond the limit of `consumeChange` it throws
 * `over_request_rate_limit` and records nothing.
 */
export async function failSecondStep(
  deps: AuthDeps,
  user: Member,
  failure: { details: Record<string, string>; text: string; device: Device },
): Promise<never> {
  await deps.limits.consumeChange(user);
  await recordAuditEvent(deps.database.asService('record a wrong second step'), {
    at: deps.clock.now(),
    userId: user.account.user.id,
    actor: 'user',
    event: 'factor_failed',
    device: failure.device,
    details: failure.details,
  });
  throw new AuthError(422, 'mfa_verification_failed', failure.text);
}

/** Thrown to roll back the transaction when `accept` returns false. */
class ProofUsedError extends Error {}

type SecondStep = {
  device: Device;
  method: string;
  /** Null for a recovery code. */
  factorId: string | null;
  event: AuditEvent;
  details: Record<string, unknown>;
  /** Consumes the proof. Returns false if it was used before or its factor is gone; may throw to refuse it. */
  accept(transaction: AsService, session: Pick<SessionRow, 'id' | 'aal'>): Promise<boolean>;
};

/**
 * Returns the session response. Null if `accept` returns false: nothing is stored then. Throws `session_not_found` if
 * the session has ended, `over_request_rate_limit`, and the errors of `accept`.
 */
export async function completeSecondStep(context: Context<AppEnv>, deps: AuthDeps, user: Member, step: SecondStep) {
  await deps.limits.consumeChange(user);
  const { account, session } = user;
  const { id: userId } = account.user;
  const { device } = step;
  const now = deps.clock.now();
  const passing = deps.database.transactAsService('pass a second step', async (transaction) => {
    await lockUser(transaction, userId);
    const locked = await lockSession(transaction, session.id);
    if (!locked) throw new AuthError('session_not_found');
    if (!(await step.accept(transaction, locked))) throw new ProofUsedError();
    const { method, factorId, event, details } = step;
    const upgraded = await upgradeSession(transaction, locked, { method, factorId, device, now });
    await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event, device, details });
    return { ...upgraded, account: await getAccount(transaction, userId) };
  });
  const result = await passing.catch((error: unknown) => {
    if (error instanceof ProofUsedError) return null;
    throw error;
  });
  if (!result) return null;
  deps.accessTokens.invalidateSessions([session.id, ...result.ended]);
  rememberDevice(context, deps, result.account.user, { sessionId: session.id });
  return sessionResponse(deps.accessTokens, result.account, result.started);
}

type LockedSession = Pick<SessionRow, 'id' | 'user_id' | 'aal' | 'amr'>;

/** Requires a transaction. Null if the session has ended. */
async function lockSession(transaction: AsService, sessionId: string): Promise<LockedSession | null> {
  const [session] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sessions')
      .select(['id', 'user_id', 'aal', 'amr'])
      .where('id', '=', sessionId)
      .forUpdate(),
  );
  return session ?? null;
}

type PassedStep = {
  method: string;
  /** Null for a recovery code. */
  factorId: string | null;
  device: Device;
  now: Date;
};

type UpgradedSession = {
  started: StartedSession;
  /** Ids of the sessions that were ended, for `AccessTokens.invalidateSessions`. */
  ended: string[];
};

/**
 * Requires a transaction that holds the locks of the user's row and of the session. Every other session of the user
 * that has not passed a second step ends.
 *
 * Threat: a thief holds the refresh token of the session from before the second step. The parent of the active token is
 * accepted after a lost response (docs/specification/api.md 10), so the thief's token would obtain `aal2`. A second
 * step therefore deletes all earlier refresh tokens of its session, and the new token descends from none of them.
 */
async function upgradeSession(
  transaction: AsService,
  session: LockedSession,
  { method, factorId, now, device }: PassedStep,
): Promise<UpgradedSession> {
  const { id: sessionId, user_id: userId } = session;
  const amr: AuthenticationMethod[] = [
    { method, timestamp: Math.floor(now.getTime() / 1000) },
    ...session.amr.filter((entry) => entry.method !== method),
  ];
  const replaced = await transaction.run(
    queryBuilder.deleteFrom('auth.refresh_tokens').where('session_id', '=', sessionId).returning('generation'),
  );
  const refresh = createFirstRefreshToken();
  await transaction.run(
    queryBuilder
      .with('token', (query) =>
        query
          .insertInto('auth.refresh_tokens')
          .values({
            session_id: sessionId,
            generation: Math.max(0, ...replaced.map((token) => token.generation)) + 1,
            token_hash: refresh.hash,
            salt: refresh.salt,
            created_at: now,
          }),
      )
      .updateTable('auth.sessions')
      .set({
        aal: 'aal2',
        amr: JSON.stringify(amr),
        factor_id: factorId,
        refreshed_at: now,
        ip: device.ip,
        user_agent: device.userAgent,
      })
      .where('id', '=', sessionId),
  );
  return {
    started: { session: { id: sessionId, aal: 'aal2', amr }, refreshToken: refresh.token },
    ended: await endSessions(transaction, userId, { except: sessionId, aal: 'aal1' }),
  };
}
