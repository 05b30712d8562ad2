/** Redeems a verified link or code: confirms or changes the address, and starts a session. */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import {
  getAccount,
  confirmAddress,
  clearUnconfirmedPassword,
  findUserByEmail,
  findUserById,
  isBanned,
} from './accounts.ts';
import type { Account } from './accounts.ts';
import { consumeToken, deleteOneTimeTokens } from './one-time-tokens.ts';
import type { OneTimeRow } from './one-time-tokens.ts';
import { startSession } from './sessions.ts';
import type { Device } from './device.ts';
import type { StartedSession } from './sessions.ts';

export type RedeemResult =
  /** `previousEmail` is set after an address change. */
  | { outcome: 'session'; account: Account; started: StartedSession; previousEmail: string | null }
  /** One of the two addresses of a change is confirmed; the other address is pending. */
  | { outcome: 'awaiting_other_address' }
  | { outcome: 'invalid' }
  | { outcome: 'banned' }
  | { outcome: 'address_taken' };

type RedeemInput = { token: OneTimeRow; device: Device; now: Date };

/** Requires a transaction. Locks the user's row first, which serializes the two confirmations of an address change. */
export async function redeemToken(transaction: AsService, { token, device, now }: RedeemInput): Promise<RedeemResult> {
  await transaction.run(queryBuilder.selectFrom('auth.users').select('id').where('id', '=', token.user_id).forUpdate());
  const user = await findUserById(transaction, token.user_id);
  if (!user) return { outcome: 'invalid' };
  if (isBanned(user, now)) return { outcome: 'banned' };

  let email = user.email;
  if (isAddressChange(token)) {
    if (user.new_email === null) return { outcome: 'invalid' };
    const step = await confirmAddressChange(transaction, { token, newEmail: user.new_email, now });
    if (step !== 'both') return { outcome: step };
    const owner = await findUserByEmail(transaction, user.new_email);
    if (owner && owner.id !== user.id) return { outcome: 'address_taken' };
    email = user.new_email;
  } else if (token.address !== user.email || !(await consumeToken(transaction, token))) {
    return { outcome: 'invalid' };
  }
  // Recovering shows that the owner does not know the password of the sign-up.
  if (token.purpose === 'recovery') await clearUnconfirmedPassword(transaction, user.id);
  if (email !== null) await confirmAddress(transaction, await getAccount(transaction, user.id), email, now);
  await deleteOneTimeTokens(transaction, user.id);
  const started = await startSession(transaction, { userId: user.id, method: 'otp', device, now });
  const previousEmail = email === user.email ? null : user.email;
  return { outcome: 'session', account: await getAccount(transaction, user.id), started, previousEmail };
}

const isAddressChange = (token: OneTimeRow): boolean =>
  token.purpose === 'email_change_current' || token.purpose === 'email_change_new';

/**
 * Threat: a user starts a change to address A, confirms A and starts a change to address B. For a moment `new_email` is
 * already B while the tokens are still those of A; a link to the current address would then set B, which nobody has
 * confirmed. A confirmation therefore counts only while the token of the new address was issued for `new_email`.
 */
async function confirmAddressChange(
  transaction: AsService,
  { token, newEmail, now }: { token: OneTimeRow; newEmail: string; now: Date },
): Promise<'both' | 'awaiting_other_address' | 'invalid'> {
  const both = await transaction.run(
    queryBuilder
      .selectFrom('auth.one_time_tokens')
      .selectAll()
      .where('user_id', '=', token.user_id)
      .where('purpose', 'in', ['email_change_current', 'email_change_new']),
  );
  const own = both.find((row) => row.purpose === token.purpose);
  if (!own || own.confirmed_at !== null || !own.code_hash.equals(token.code_hash)) return 'invalid';
  if (both.some((row) => row.purpose === 'email_change_new' && row.address !== newEmail)) return 'invalid';
  const other = both.find((row) => row.purpose !== token.purpose);
  if (!other || other.confirmed_at !== null) return 'both';
  await transaction.run(
    queryBuilder
      .updateTable('auth.one_time_tokens')
      .set({ confirmed_at: now })
      .where('user_id', '=', own.user_id)
      .where('purpose', '=', own.purpose)
      .returning('user_id'),
  );
  return 'awaiting_other_address';
}
