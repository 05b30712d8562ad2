/** PUT /user with a number: texts a code to the new number (docs/specification/wire.md 26). */
import type { UserRow } from '../accounts/accounts.ts';
import { updateUser } from '../accounts/accounts.ts';
import type { AuthDeps } from '../auth-deps.ts';
import type { Body } from '../wire/body.ts';
import { AuthError } from '../wire/errors.ts';
import { checkChannel, issuePhoneCode } from './phone-codes.ts';
import { parsePhone } from './phone-number.ts';
import { sendText } from './send-text.ts';

/**
 * Returns null if the request leaves the user's number as it is. Throws `phone_provider_disabled`, or
 * `validation_failed` for another channel than SMS or a malformed number.
 */
export function parseNewPhone(deps: AuthDeps, body: Body, user: UserRow): string | null {
  if (body.text('phone') === '') return null;
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  checkChannel(body);
  const phone = parsePhone(body.text('phone'));
  return phone === user.phone && user.phone_confirmed_at !== null ? null : phone;
}

/**
 * The caller has called `consumeRecipientBudget`.
 *
 * Threat: a signed-in user tries numbers to learn which have an account. A taken number gets the same code and the same
 * answer; only the person who enters that code, and so holds the phone, learns that the number is taken.
 */
export async function requestPhoneChange(deps: AuthDeps, user: UserRow, phone: string): Promise<void> {
  const service = deps.database.asService('change a phone number');
  const now = deps.clock.now();
  const text = await issuePhoneCode(deps, service, { userId: user.id, purpose: 'phone_change', phone });
  await updateUser(service, user.id, { new_phone: phone, phone_change_sent_at: now, updated_at: now });
  try {
    await sendText(deps, phone, text);
  } catch (error) {
    await updateUser(service, user.id, { new_phone: user.new_phone, phone_change_sent_at: user.phone_change_sent_at });
    throw error;
  }
}
