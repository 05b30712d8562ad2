/** Texted codes: valid for one minute, otherwise like mailed codes (docs/specification/api.md 26). */
import type { AsService } from '#server/database/database.ts';
import { updateUser, type UserRow } from '../accounts/accounts.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { phoneChangeText, reauthenticationText, signInText } from '../phone/send-text.ts';
import { issueOneTimeToken } from './one-time-tokens.ts';

const LIFETIME_SECONDS = 60;

const TEXTS = { sms: signInText, phone_change: phoneChangeText, reauthentication: reauthenticationText } as const;

type PhoneCode = { userId: string; purpose: keyof typeof TEXTS; phone: string };

/** Replaces the user's code of this purpose and returns the text that carries the new one. */
export async function issuePhoneCode(deps: AuthDeps, service: AsService, { userId, purpose, phone }: PhoneCode) {
  const { code } = await issueOneTimeToken(service, {
    userId,
    purpose,
    address: phone,
    now: deps.clock.now(),
    key: deps.secrets.oneTimeCodes,
    lifetimeSeconds: LIFETIME_SECONDS,
  });
  return TEXTS[purpose]({ code, publicUrl: deps.config.publicUrl });
}

/** Issues the code that signs the user in; for a number that was never confirmed, the code that confirms it. */
export async function issueSignInCode(deps: AuthDeps, service: AsService, user: UserRow, phone: string) {
  if (user.phone_confirmed_at === null) {
    await updateUser(service, user.id, { confirmation_sent_at: deps.clock.now() });
  }
  return issuePhoneCode(deps, service, { userId: user.id, purpose: 'sms', phone });
}
