/** What a link or a code does once it is right: confirm the address, change the address, start a session. */
import type { AsService } from '#server/database/database.ts';
import { sqlFor } from '#server/database/sql-for.ts';
import { accountById, confirmAddress, userByEmail, userById } from './accounts.ts';
import type { Account } from './accounts.ts';
import { useUp, wipeOneTimeTokens } from './one-time-tokens.ts';
import type { OneTimeRow } from './one-time-tokens.ts';
import { startSession } from './sessions.ts';
import type { Device, StartedSession } from './sessions.ts';

export type Redemption =
  /** `previousEmail` is set when the account has moved to another address. */
  | { outcome: 'session'; account: Account; started: StartedSession; previousEmail: string | null }
  /** One of the two addresses has agreed; the other is still to be asked. */
  | { outcome: 'half_done' }
  | { outcome: 'spent' }
  | { outcome: 'banned' }
  | { outcome: 'address_taken' };

type Given = { token: OneTimeRow; device: Device; now: Date };

/** To be run in a transaction. The user's row is locked first, so both halves of a change cannot pass each other. */
export async function redeem(transaction: AsService, { token, device, now }: Given): Promise<Redemption> {
  await transaction.run(sqlFor.selectFrom('auth.users').select('id').where('id', '=', token.user_id).forUpdate());
  const user = await userById(transaction, token.user_id);
  if (!user) return { outcome: 'spent' };
  if (user.banned_until !== null && user.banned_until > now) return { outcome: 'banned' };

  let email = user.email;
  if (isAddressChange(token)) {
    const step = await agreeToChange(transaction, token, now);
    if (step !== 'both') return { outcome: step };
    const owner = user.new_email === null ? null : await userByEmail(transaction, user.new_email);
    if (user.new_email === null) return { outcome: 'spent' };
    if (owner && owner.id !== user.id) return { outcome: 'address_taken' };
    email = user.new_email;
  } else if (token.address !== user.email || !(await useUp(transaction, token))) {
    return { outcome: 'spent' };
  }
  if (email !== null) await confirmAddress(transaction, await accountById(transaction, user.id), email, now);
  await wipeOneTimeTokens(transaction, user.id);
  const started = await startSession(transaction, { userId: user.id, method: 'otp', device, now });
  const previousEmail = email === user.email ? null : user.email;
  return { outcome: 'session', account: await accountById(transaction, user.id), started, previousEmail };
}

const isAddressChange = (token: OneTimeRow): boolean =>
  token.purpose === 'email_change_current' || token.purpose === 'email_change_new';

async function agreeToChange(
  transaction: AsService,
  token: OneTimeRow,
  now: Date,
): Promise<'both' | 'half_done' | 'spent'> {
  const both = await transaction.run(
    sqlFor
      .selectFrom('auth.one_time_tokens')
      .selectAll()
      .where('user_id', '=', token.user_id)
      .where('purpose', 'in', ['email_change_current', 'email_change_new']),
  );
  const own = both.find((row) => row.purpose === token.purpose);
  if (!own || own.confirmed_at !== null || !own.code_hash.equals(token.code_hash)) return 'spent';
  const other = both.find((row) => row.purpose !== token.purpose);
  if (!other || other.confirmed_at !== null) return 'both';
  await transaction.run(
    sqlFor
      .updateTable('auth.one_time_tokens')
      .set({ confirmed_at: now })
      .where('user_id', '=', own.user_id)
      .where('purpose', '=', own.purpose)
      .returning('user_id'),
  );
  return 'half_done';
}
