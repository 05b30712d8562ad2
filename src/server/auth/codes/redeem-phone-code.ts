/** Redeems a verified texted code: confirms or changes the number, and starts a session. */
import type { AsService } from '#server/database/database.ts';
import { getAccount, isBanned, lockUser, type Account } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Device } from '../http/device.ts';
import { consumeToken, deleteOneTimeTokens, type FoundToken } from './one-time-tokens.ts';
import { startSession, type StartedSession } from '../sessions/sessions.ts';
import { confirmPhone, findUserByPhone, releaseUnconfirmedPhone } from '../phone/phone-accounts.ts';

/** `owner.email` is null unless the address is confirmed. */
export type PhoneChange = { previousPhone: string | null; owner: { id: string; email: string | null } };
export type PhoneRedeemResult =
  | {
      outcome: 'session';
      account: Account;
      started: StartedSession;
      /** After a change of the number, whom to notify; null for a sign-in. */
      change: PhoneChange | null;
    }
  | { outcome: 'invalid' }
  | { outcome: 'banned' }
  | { outcome: 'phone_taken' };

type RedeemInput = { token: FoundToken; device: Device; now: Date };

/** Requires a transaction. Throws a `pg.DatabaseError` with code 23505 if a concurrent request takes the number. */
export async function redeemPhoneCode(transaction: AsService, input: RedeemInput): Promise<PhoneRedeemResult> {
  const { token, device, now } = input;
  const user = await lockUser(transaction, token.user_id);
  if (!user) return { outcome: 'invalid' };
  if (isBanned(user, now)) return { outcome: 'banned' };
  const isChange = token.purpose === 'phone_change';
  const phone = isChange ? user.new_phone : user.phone;
  // The number may have changed since the code was sent.
  if (phone !== token.address || !(await consumeToken(transaction, token))) return { outcome: 'invalid' };

  const isNewNumber = phone !== user.phone;
  if (isNewNumber) {
    await releaseUnconfirmedPhone(transaction, phone, user.id);
    if (await findUserByPhone(transaction, phone)) return { outcome: 'phone_taken' };
  }
  await confirmPhone(transaction, await getAccount(transaction, user.id), phone, now);
  await deleteOneTimeTokens(transaction, user.id);
  if (isNewNumber) {
    const event = { at: now, userId: user.id, actor: 'user', event: 'phone_changed', device } as const;
    await recordAuditEvent(transaction, event);
  }
  const started = await startSession(transaction, { userId: user.id, method: 'otp', byPhone: true, device, now });
  const account = await getAccount(transaction, user.id);
  const confirmedEmail = user.email_confirmed_at === null ? null : user.email;
  const previousPhone = user.phone_confirmed_at === null ? null : user.phone;
  return {
    outcome: 'session',
    account,
    started,
    change: isNewNumber ? { previousPhone, owner: { id: user.id, email: confirmedEmail } } : null,
  };
}
