/** Completes a second step: accepts its proof, raises the session to `aal2` and responds with new tokens. */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { getAccount, lockUser } from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEvent } from '../accounts/audit-log.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import type { Refund } from '../http/rate-limits.ts';
import { mailFactorGuesses } from './factor-mails.ts';
import { deviceOf } from '../http/client-device.ts';
import { rememberDevice } from '../sessions/device-cookie.ts';
import { AuthError, type AuthErrorName } from '../http/errors.ts';
import { sessionResponse } from '../sessions/session-response.ts';
import type { FactorUser } from './require-factor-user.ts';
import { lockSession, upgradeSession } from './upgrade-session.ts';

/**
 * Counts a guess before it is compared. Guesses are counted by the method that started the session. Threat: a stranger
 * who knows the password uses up all guesses every day. A session that a mailed link started has its own guesses, so
 * the owner still gets in.
 *
 * @param secret names the guessed secret, for example by the factor's id
 */
export async function countGuess(
  deps: AuthDeps,
  { account, session }: FactorUser,
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

/** Throws the error after recording the wrong answer; `over_request_rate_limit` instead of recording too many. */
export async function failSecondStep(
  context: Context<AppEnv>,
  deps: AuthDeps,
  user: FactorUser,
  failure: { details: Record<string, string>; error: AuthErrorName },
): Promise<never> {
  await deps.limits.consumeChange(user);
  await recordAuditEvent(deps.database.asService('record a wrong second step'), {
    at: deps.clock.now(),
    userId: user.account.user.id,
    actor: 'user',
    event: 'factor_failed',
    device: deviceOf(context, deps),
    details: failure.details,
  });
  throw new AuthError(failure.error);
}

/** Thrown to roll back the transaction when a concurrent request has used the proof. */
class ProofUsedError extends Error {}

type SecondStep = {
  method: string;
  /** Null for a recovery code. */
  factorId: string | null;
  event: AuditEvent;
  details: Record<string, unknown>;
  /** Consumes the proof. Returns false if a concurrent request has consumed it; throws to refuse it. */
  accept(transaction: AsService, session: Pick<SessionRow, 'id' | 'aal'>): Promise<boolean>;
};

/**
 * Returns the session response. Null if a concurrent request has used the proof: nothing is stored then. Throws
 * `session_not_found` if the session has ended, and the errors of `accept`.
 */
export async function completeSecondStep(context: Context<AppEnv>, deps: AuthDeps, user: FactorUser, step: SecondStep) {
  await deps.limits.consumeChange(user);
  const { account, session } = user;
  const { id: userId } = account.user;
  const [device, now] = [deviceOf(context, deps), deps.clock.now()];
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
  for (const id of [session.id, ...result.ended]) deps.accessTokens.invalidateSession(id);
  rememberDevice(context, deps, result.account.user, { sessionId: session.id });
  return sessionResponse(deps.accessTokens, result.account, result.started);
}
