/** POST /factors/{id}/verify: passes a second step with the answer to a challenge (docs/specification/api.md 31). */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { FactorType, JsonObject } from '#server/database/tables.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest, type AuthErrorName } from '../http/errors.ts';
import { UUID } from '../keys/access-tokens.ts';
import { unseal } from '../keys/sealed.ts';
import type { Member } from '../sessions/require-user.ts';
import {
  consumeChallenge,
  countAnswer,
  isTextedCode,
  requireVerifyEnabled,
  type ChallengeResult,
  type StoredChallenge,
} from './challenge.ts';
import { mailFactorAdded } from './factor-mails.ts';
import { FACTOR_METHODS, listFactors, type StoredFactor } from './factor-store.ts';
import { completeSecondStep, countGuess, failSecondStep } from './second-step.ts';
import { findTotpStep } from './totp.ts';
import { checkWebAuthnAnswer } from './webauthn-factor.ts';

const CHALLENGE_ERRORS = {
  unknown: 'factor_challenge_not_found',
  expired: 'factor_challenge_expired',
  used_or_elsewhere: 'factor_ip_mismatch',
} as const satisfies Record<Exclude<ChallengeResult['outcome'], 'open'>, AuthErrorName>;

const WRONG_ANSWERS = {
  totp: 'Invalid TOTP code entered',
  phone: 'Invalid MFA Phone code entered',
  webauthn: 'WebAuthn verification failed',
} as const satisfies Record<FactorType, string>;

type Given = { caller: Member; device: Device; factor: StoredFactor; body: Body };

export const verifyFactor: Endpoint<Given> = async (context, deps, { caller: user, device, factor, body }) => {
  const answer = parseAnswer(body, factor.factor_type);
  requireVerifyEnabled(deps, factor.factor_type);
  const challenge = await requireChallenge(deps, factor, body.text('challenge_id'), device.ip);

  // Guesses at codes are counted. A WebAuthn signature cannot be guessed.
  const refund = factor.factor_type === 'webauthn' ? null : await countGuess(deps, user, factor.id);
  const details = { factor_id: factor.id, factor_type: factor.factor_type };
  const failure = { details, text: WRONG_ANSWERS[factor.factor_type] };
  const consume = await checkAnswer(deps, factor, challenge, answer);
  if (!consume) return failSecondStep(deps, user, { ...failure, device });

  const isNew = factor.status === 'unverified';
  const session = await completeSecondStep(context, deps, user, {
    device,
    method: FACTOR_METHODS[factor.factor_type],
    factorId: factor.id,
    event: 'factor_verified',
    details: { ...details, is_new: isNew },
    async accept(transaction, { aal }) {
      if (!(await consumeChallenge(transaction, challenge.id, deps.clock.now()))) {
        throw new AuthError('factor_ip_mismatch');
      }
      if (isNew) await requireMayAddFactor(transaction, user.account.user.id, aal);
      return (await consume(transaction)) && markVerified(transaction, factor, deps.clock.now());
    },
  });
  if (!session) return failSecondStep(deps, user, { ...failure, device });
  await refund?.();
  if (isNew) mailFactorAdded(deps, user.account.user, factor.factor_type);
  return context.json(session);
};

type Answer = { code: string } | { type: 'create' | 'request'; response: JsonObject };

function parseAnswer(body: Body, factorType: FactorType): Answer {
  if (factorType !== 'webauthn') {
    const code = body.text('code');
    if (code === '') throw new AuthError('factor_code_missing');
    return { code };
  }
  const webauthn = body.object('webauthn');
  if (webauthn === null) throw invalidRequest('WebAuthn config required');
  const { type, credential_response: response } = webauthn;
  if (type !== 'create' && type !== 'request') throw invalidRequest('WebAuthn type must be create or request');
  if (typeof response !== 'object' || response === null) throw invalidRequest('credential_response required');
  return { type, response: response as JsonObject };
}

async function requireChallenge(
  deps: AuthDeps,
  factor: StoredFactor,
  challengeId: string,
  ip: string,
): Promise<StoredChallenge> {
  if (!UUID.test(challengeId)) throw new AuthError('factor_challenge_not_found');
  const result = await countAnswer(deps.database.asService('count an answer'), {
    challengeId,
    factorId: factor.id,
    ip,
    now: deps.clock.now(),
  });
  if (result.outcome !== 'open') throw new AuthError(CHALLENGE_ERRORS[result.outcome], challengeId);
  return result.challenge;
}

/** Consumes a right answer in a transaction. Returns false if the answer was used before, or its factor is gone. */
type ConsumeAnswer = (transaction: AsService) => Promise<boolean>;

async function checkAnswer(
  deps: AuthDeps,
  factor: StoredFactor,
  challenge: StoredChallenge,
  answer: Answer,
): Promise<ConsumeAnswer | null> {
  if ('response' in answer) {
    const expected = challenge.webauthn_challenge;
    return expected === null ? null : checkWebAuthnAnswer(deps, factor, { challenge: expected, ...answer });
  }
  // A texted code needs no further check: its challenge is consumed once (`consumeChallenge`).
  if (factor.factor_type === 'phone')
    return isTextedCode(deps, factor, challenge, answer.code) ? async () => true : null;
  const secret = factor.secret && unseal(deps.secrets.factors, `factor:${factor.id}`, factor.secret);
  if (secret === null) throw new Error('the secret of a factor was sealed with another key');
  const step = findTotpStep({ secret, code: answer.code, now: deps.clock.now() });
  return step === null ? null : (transaction) => claimTimeStep(transaction, factor.id, step);
}

/** Threat: somebody who sees a code uses it again. A time step is accepted only if it is later than the last one. */
async function claimTimeStep(transaction: AsService, factorId: string, step: number): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder
      .updateTable('auth.mfa_factors')
      .set({ last_time_step: step })
      .where('id', '=', factorId)
      .where((row) => row.or([row('last_time_step', 'is', null), row('last_time_step', '<', step)]))
      .returning('id'),
  );
  return rows.length > 0;
}

/**
 * Threat: the thief of a password stores an unverified factor before the owner protects the account, and verifies it
 * later to pass the second step with it. If the user has a verified factor, a session without a second step verifies no
 * new factor.
 */
async function requireMayAddFactor(transaction: AsService, userId: string, aal: string): Promise<void> {
  if (aal !== 'aal1') return;
  const factors = await listFactors(transaction, userId);
  if (factors.some((factor) => factor.status === 'verified')) throw new AuthError('enroll_needs_second_step');
}

/**
 * Marks a new factor as verified and deletes the user's other unverified factors of its type. False if the factor was
 * removed meanwhile. No-op for a verified factor.
 */
async function markVerified(transaction: AsService, factor: StoredFactor, now: Date): Promise<boolean> {
  if (factor.status === 'verified') return true;
  const rows = await transaction.run(
    queryBuilder
      .updateTable('auth.mfa_factors')
      .set({ status: 'verified', updated_at: now })
      .where('id', '=', factor.id)
      .returning('id'),
  );
  await transaction.run(
    queryBuilder
      .deleteFrom('auth.mfa_factors')
      .where('user_id', '=', factor.user_id)
      .where('factor_type', '=', factor.factor_type)
      .where('status', '=', 'unverified'),
  );
  return rows.length > 0;
}
