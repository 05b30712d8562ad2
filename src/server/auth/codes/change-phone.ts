/** PUT /user with a number: texts a code to the new number (docs/specification/wire.md 26). */
import { lockUser, updateUser, type UserRow } from '../accounts/accounts.ts';
import type { SessionRow } from '../sessions/sessions.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { AuthError } from '../http/errors.ts';
import { requireLiveSession } from '../sessions/require-user.ts';
import { checkChannel, issuePhoneCode } from './phone-codes.ts';
import { parsePhone } from '../http/phone-number.ts';
import { sendText } from '../phone/send-text.ts';

/**
 * Returns null if the request leaves the user's number as it is. Throws `phone_provider_disabled`, or
 * `validation_failed` for another channel than SMS or a malformed number.
 */
export function parseNewPhone(deps: AuthDeps, body: Body, user: UserRow): string | null {
  if (body.text('phone') === '') return null;
  const phone = parsePhone(body.text('phone'));
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  checkChannel(body);
  return phone === user.phone && user.phone_confirmed_at !== null ? null : phone;
}

type PhoneChangeRequest = { user: UserRow; session: SessionRow | null; phone: string };

/**
 * The caller has called `consumeRecipientBudget`. Throws `session_not_found` if the session has ended.
 *
 * Threat: a signed-in user tries numbers to learn which have an account. A taken number gets the same code and the same
 * answer; only the person who enters that code, and so holds the phone, learns that the number is taken.
 */
export async function requestPhoneChange(deps: AuthDeps, { user, session, phone }: PhoneChangeRequest): Promise<void> {
  const now = deps.clock.now();
  const text = await deps.database.transactAsService('change a phone number', async (transaction) => {
    await lockUser(transaction, user.id);
    await requireLiveSession(transaction, session);
    await updateUser(transaction, user.id, { new_phone: phone, phone_change_sent_at: now, updated_at: now });
    return issuePhoneCode(deps, transaction, { userId: user.id, purpose: 'phone_change', phone });
  });
  try {
    await sendText(deps, { phone, text, share: 'open' });
  } catch (error) {
    const service = deps.database.asService('undo a change of a phone number');
    await updateUser(service, user.id, { new_phone: user.new_phone, phone_change_sent_at: user.phone_change_sent_at });
    throw error;
  }
}
