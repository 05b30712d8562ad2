/** POST /factors/{id}/challenge: starts a second step, for a phone with a texted code (docs/specification/api.md 31). */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, FactorType } from '#server/database/tables.ts';
import { networkPrefix } from '#server/http/client-address.ts';
import type { Account } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { checkChannel } from '../http/credentials.ts';
import { consumeRecipientBudget, secondStepText, sendText } from '../phone/send-text.ts';
import type { Member } from '../sessions/require-user.ts';
import type { StoredFactor } from './factor-store.ts';
import { createWebAuthnChallenge } from './webauthn-factor.ts';

type Given = { caller: Member; device: Device; factor: StoredFactor; readBody: () => Promise<Body> };

export const challengeFactor: Endpoint<Given> = async (context, deps, { caller, device: { ip }, factor, readBody }) => {
  requireVerifyEnabled(deps, factor.factor_type);
  const body = await readBody();
  if (factor.factor_type === 'phone') checkChannel(body);
  const { row, answer, send } = await CHALLENGES[factor.factor_type](deps, caller.account, factor, ip);
  const challenge = await createChallenge(deps.database.asService('challenge a factor'), {
    factorId: factor.id,
    ip,
    ...row,
    now: deps.clock.now(),
  });
  await send?.();
  return context.json({
    id: challenge.id,
    type: factor.factor_type,
    expires_at: Math.floor(challenge.expires_at.getTime() / 1000),
    ...answer,
  });
};

export function requireVerifyEnabled({ config, sms }: AuthDeps, type: FactorType): void {
  if (type === 'phone' && sms === null)
    throw new AuthError(422, 'mfa_phone_verify_not_enabled', 'MFA verification is disabled for Phone');
  if (type === 'webauthn' && !config.auth.passkeys)
    throw new AuthError(422, 'mfa_webauthn_verify_not_enabled', 'MFA verification is disabled for WebAuthn');
}

type Challenge = {
  row: { codeHash?: Buffer; webauthnChallenge?: string };
  answer: object;
  /** Sends the code. Call it after the challenge is stored. */
  send?: () => Promise<void>;
};

const CHALLENGES: Record<
  FactorType,
  (deps: AuthDeps, account: Account, factor: StoredFactor, ip: string) => Challenge | Promise<Challenge>
> = {
  totp: () => ({ row: {}, answer: {} }),
  async phone(deps, _account, factor, ip) {
    const { codeHash, send } = await createTextedCode(deps, factor, ip);
    return { row: { codeHash }, answer: {}, send };
  },
  async webauthn(deps, account, factor) {
    const { challenge, type, publicKey } = await createWebAuthnChallenge(deps, account, factor);
    return { row: { webauthnChallenge: challenge }, answer: { webauthn: { type, credential_options: { publicKey } } } };
  },
};

type TextedCode = { codeHash: Buffer; send: () => Promise<void> };

/**
 * Call `send` once the challenge is stored. This function and `send` throw `over_sms_send_rate_limit` or
 * `sms_send_failed`.
 */
async function createTextedCode(deps: AuthDeps, factor: StoredFactor, ip: string): Promise<TextedCode> {
  const phone = factor.phone ?? '';
  const isConfirmed = factor.status === 'verified';
  await consumeRecipientBudget(deps, { phone, ip, asker: isConfirmed ? 'owner' : 'guest' });
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const text = secondStepText({ code, publicUrl: deps.config.publicUrl });
  // Threat: a free account enrols one stranger's number after another. Only a verified factor gets a reserved text.
  const share = isConfirmed ? 'owner' : 'open';
  return { codeHash: hashCode(deps, factor, code), send: () => sendText(deps, { phone, text, share }) };
}

export const isTextedCode = (deps: AuthDeps, factor: StoredFactor, challenge: StoredChallenge, code: string): boolean =>
  challenge.code_hash !== null && timingSafeEqual(challenge.code_hash, hashCode(deps, factor, code));

const hashCode = ({ secrets }: AuthDeps, { id, phone }: StoredFactor, code: string): Buffer =>
  createHmac('sha256', secrets.oneTimeCodes).update(['factor', id, phone, code].join('\0')).digest();

const CHALLENGE_LIFETIME_MS = 300_000;
/** A challenge accepts no further answer after this many. */
const MAX_ANSWERS = 5;

export type StoredChallenge = Selectable<Tables['auth.mfa_challenges']>;

type NewChallenge = { factorId: string; ip: string; codeHash?: Buffer; webauthnChallenge?: string; now: Date };

/** Stores a challenge. It accepts one right answer within five minutes, from the network that requested it. */
async function createChallenge(service: AsService, challenge: NewChallenge): Promise<StoredChallenge> {
  const { factorId, now } = challenge;
  const [row] = await service.run(
    queryBuilder
      .with('challenged', (query) =>
        query.updateTable('auth.mfa_factors').set({ last_challenged_at: now }).where('id', '=', factorId),
      )
      .insertInto('auth.mfa_challenges')
      .values({
        factor_id: factorId,
        ip: networkPrefix(challenge.ip),
        code_hash: challenge.codeHash ?? null,
        webauthn_challenge: challenge.webauthnChallenge ?? null,
        created_at: now,
        expires_at: new Date(now.getTime() + CHALLENGE_LIFETIME_MS),
      })
      .returningAll(),
  );
  return row!;
}

type Answer = { challengeId: string; factorId: string; ip: string; now: Date };

export type ChallengeResult =
  | { outcome: 'open'; challenge: StoredChallenge }
  | { outcome: 'unknown' | 'expired' | 'used_or_elsewhere' };

/**
 * Counts and commits an answer before the caller compares it, so at most five of any number of concurrent answers are
 * compared. Call it outside the transaction that accepts the answer: a rollback would undo the count.
 *
 * An answer must come from the network that requested the challenge. IPv6 addresses are compared by their /64 network,
 * because a phone changes the rest of its address by itself. A phone that changes from Wi-Fi to mobile data must
 * request another challenge.
 */
export async function countAnswer(service: AsService, answer: Answer): Promise<ChallengeResult> {
  const [challenge] = await service.run(
    queryBuilder
      .updateTable('auth.mfa_challenges')
      .set((row) => ({ wrong_codes: row('wrong_codes', '+', 1) }))
      .where('id', '=', answer.challengeId)
      .where('factor_id', '=', answer.factorId)
      .returningAll(),
  );
  if (!challenge) return { outcome: 'unknown' };
  if (challenge.verified_at !== null || challenge.ip !== networkPrefix(answer.ip)) {
    return { outcome: 'used_or_elsewhere' };
  }
  if (challenge.expires_at <= answer.now || challenge.wrong_codes > MAX_ANSWERS) return { outcome: 'expired' };
  return { outcome: 'open', challenge };
}

/** Requires a transaction. Marks the challenge as used. True for one of several concurrent callers. */
export async function consumeChallenge(transaction: AsService, challengeId: string, now: Date): Promise<boolean> {
  const rows = await transaction.run(
    queryBuilder
      .updateTable('auth.mfa_challenges')
      .set({ verified_at: now })
      .where('id', '=', challengeId)
      .where('verified_at', 'is', null)
      .returning('id'),
  );
  return rows.length > 0;
}
