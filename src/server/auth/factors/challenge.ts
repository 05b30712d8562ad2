/** POST /factors/{id}/challenge: starts a second step (docs/specification/wire.md 31). */
import type { FactorType } from '#server/database/tables/auth-tables.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Account } from '../accounts/accounts.ts';
import { checkChannel } from '../codes/phone-codes.ts';
import { readOptionalBody } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { createChallenge } from './challenge-store.ts';
import type { StoredFactor } from './factor-store.ts';
import { createTextedCode } from './phone-factor.ts';
import { requireFactor, requireFactorUser } from './require-factor-user.ts';
import { createWebAuthnChallenge } from './webauthn-factor.ts';

export const challengeFactor: Endpoint = async (context, deps) => {
  const { ip } = deviceOf(context, deps);
  await deps.limits.consume('factor_challenge', ip);
  const user = await requireFactorUser(context, deps);
  const factor = await requireFactor(context, deps, user);
  requireVerifyEnabled(deps, factor.factor_type);
  const body = await readOptionalBody(context);
  if (factor.factor_type === 'phone') checkChannel(body);
  const { row, answer, send } = await CHALLENGES[factor.factor_type](deps, user.account, factor, ip);
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
  if (type === 'phone' && sms === null) throw new AuthError('phone_verify_disabled');
  if (type === 'webauthn' && !config.auth.passkeys) throw new AuthError('webauthn_verify_disabled');
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
