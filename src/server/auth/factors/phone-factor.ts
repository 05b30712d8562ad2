/** Second factors that are phone numbers: each challenge texts a code (docs/specification/wire.md 31). */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { AuthDeps } from '../http/auth-deps.ts';
import { consumeRecipientBudget, sendText } from '../phone/send-text.ts';
import { secondStepText } from '../phone/texts.ts';
import type { StoredChallenge } from './challenge-store.ts';
import type { StoredFactor } from './factor-store.ts';

type TextedCode = { codeHash: Buffer; send: () => Promise<void> };

/** Throws `over_sms_send_rate_limit`. Call `send` once the challenge is stored; it throws `sms_send_failed`. */
export async function createTextedCode(deps: AuthDeps, factor: StoredFactor, ip: string): Promise<TextedCode> {
  const phone = factor.phone ?? '';
  const isConfirmed = factor.status === 'verified';
  await consumeRecipientBudget(deps, { phone, ip, asker: isConfirmed ? 'owner' : 'guest' });
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const text = secondStepText({ code, publicUrl: deps.config.publicUrl });
  // Threat: a free account enrols a stranger's number after another. Only a verified factor gets a reserved text.
  const share = isConfirmed ? 'reserved' : 'open';
  return { codeHash: hashCode(deps, factor, code), send: () => sendText(deps, { phone, text, share }) };
}

export const isTextedCode = (deps: AuthDeps, factor: StoredFactor, challenge: StoredChallenge, code: string): boolean =>
  challenge.code_hash !== null && timingSafeEqual(challenge.code_hash, hashCode(deps, factor, code));

const hashCode = ({ secrets }: AuthDeps, { id, phone }: StoredFactor, code: string): Buffer =>
  createHmac('sha256', secrets.oneTimeCodes).update(['factor', id, phone, code].join('\0')).digest();
