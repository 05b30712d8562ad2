/** Reauthentication of a user without a confirmed address (docs/specification/wire.md 26). */
import { updateUser, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { AuthError } from '../http/errors.ts';
import { issuePhoneCode } from './phone-codes.ts';
import { consumeRecipientBudget, sendText } from '../phone/send-text.ts';

/** Where a reauthentication code goes: the confirmed address, else the confirmed number; null without either. */
export function reauthenticationTarget({ email, email_confirmed_at, phone, phone_confirmed_at }: UserRow) {
  if (email !== null && email_confirmed_at !== null) return { channel: 'email', address: email } as const;
  if (phone !== null && phone_confirmed_at !== null) return { channel: 'phone', address: phone } as const;
  return null;
}

/** Why a user without a target gets no code. */
export function missingTargetError({ email, phone }: UserRow): AuthError {
  if (email !== null) return new AuthError('reauthentication_unconfirmed');
  return new AuthError(phone === null ? 'reauthentication_without_address' : 'reauthentication_unconfirmed_phone');
}

export async function textReauthentication(deps: AuthDeps, user: UserRow, phone: string, ip: string): Promise<void> {
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  await consumeRecipientBudget(deps, { phone, ip, asker: 'owner' });
  const service = deps.database.asService('reauthenticate by phone');
  const text = await issuePhoneCode(deps, service, { userId: user.id, purpose: 'reauthentication', phone });
  await updateUser(service, user.id, { reauthentication_sent_at: deps.clock.now() });
  await sendText(deps, { phone, text, share: 'reserved' });
}
