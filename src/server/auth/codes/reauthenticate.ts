/**
 * GET /reauthenticate: mails or texts a code. A session older than 24 hours needs the code to change the password or
 * the address with PUT /user (docs/specification/api.md 12, 14, 26).
 */
import { updateUser, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { consumeRecipientBudget, sendText } from '../phone/send-text.ts';
import type { AuthenticatedUser } from '../sessions/require-user.ts';
import { mailReauthentication } from './mail-codes.ts';
import { issuePhoneCode } from './text-codes.ts';

type Given = { caller: AuthenticatedUser; device: Device };

export const reauthenticate: Endpoint<Given> = async (context, deps, { caller: { account }, device: { ip } }) => {
  const { user } = account;
  const target = reauthenticationTarget(user);
  if (target === null) throw missingTargetError(user);
  if (target.channel === 'phone') await textReauthentication(deps, user, target.address, ip);
  else await mailReauthentication(deps, deps.database.asService('reauthenticate'), account);
  return context.json({});
};

/** Where a reauthentication code goes: the confirmed address, else the confirmed number; null without either. */
export function reauthenticationTarget({ email, email_confirmed_at, phone, phone_confirmed_at }: UserRow) {
  if (email !== null && email_confirmed_at !== null) return { channel: 'email', address: email } as const;
  if (phone !== null && phone_confirmed_at !== null) return { channel: 'phone', address: phone } as const;
  return null;
}

/** Why a user without a target gets no code. */
function missingTargetError({ email, phone }: UserRow): AuthError {
  if (email !== null) return new AuthError(422, 'email_not_confirmed', 'Please verify your email first.');
  return phone === null
    ? invalidRequest('Reauthentication requires the user to have an email or a phone number')
    : new AuthError(422, 'phone_not_confirmed', 'Please verify your phone first.');
}

/** Reauthentication of a user without a confirmed address (docs/specification/api.md 26). */
async function textReauthentication(deps: AuthDeps, user: UserRow, phone: string, ip: string): Promise<void> {
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  await consumeRecipientBudget(deps, { phone, ip, asker: 'owner' });
  const service = deps.database.asService('reauthenticate by phone');
  const text = await issuePhoneCode(deps, service, { userId: user.id, purpose: 'reauthentication', phone });
  await updateUser(service, user.id, { reauthentication_sent_at: deps.clock.now() });
  await sendText(deps, { phone, text, share: 'owner' });
}
