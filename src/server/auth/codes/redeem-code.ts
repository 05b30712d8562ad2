/**
 * Redeems a verified link or code: confirms or changes the address or the number, and starts a session or, for the link
 * of a PKCE flow, issues an auth code.
 */
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import {
  confirmAddress,
  findUserByEmail,
  findUserByPhone,
  getAccount,
  isBanned,
  lockUser,
  updateUser,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { releaseAddress } from '../accounts/sign-in-methods.ts';
import type { Device } from '../http/device.ts';
import { confirmPhone, releaseUnconfirmedPhone } from '../phone/phone-accounts.ts';
import { findFlow, issueAuthCode } from '../sessions/flows.ts';
import { startSession, type StartedSession } from '../sessions/sessions.ts';
import { claimAccount, isUnproven, type Claim } from './claim-account.ts';
import { consumeToken, deleteOneTimeTokens, lockToken, type FoundToken } from './one-time-tokens.ts';

/** The effects of a redeemed token on the account. A notice tells its owner about them. */
type Effects = {
  /** Set after the change of an address. */
  previousEmail: string | null;
  /** Set if the token has claimed the account. */
  claim: Claim | null;
  /** Set after the change of a number. */
  phoneChange: PhoneChange | null;
};
/** `owner.email` is null unless the address is confirmed. */
export type PhoneChange = { previousPhone: string | null; owner: { id: string; email: string | null } };

export type RedeemResult =
  | ({ outcome: 'session'; started: StartedSession; account: Account } & Effects)
  /** The client exchanges the code for a session (docs/specification/api.md 24). */
  | ({ outcome: 'auth_code'; code: string; account: Account } & Effects)
  | Refusal;

type Refusal =
  /** One of the two addresses of a change is confirmed; the other address is pending. */
  | { outcome: 'awaiting_other_address' }
  | { outcome: 'invalid' }
  | { outcome: 'banned' }
  /** Another account has confirmed the address or the number. */
  | { outcome: 'taken' };

type RedeemInput = {
  token: FoundToken;
  device: Device;
  now: Date;
  /**
   * True if the user opened the mail's link: for a PKCE client the result is then an auth code. False if the client
   * itself redeems the token: the result is then a session.
   */
  finishesFlow: boolean;
};

type Acceptance = { token: FoundToken; user: UserRow; device: Device; now: Date };

export const isTexted = ({ purpose }: Pick<FoundToken, 'purpose'>): boolean =>
  purpose === 'sms' || purpose === 'phone_change';

/**
 * Requires a transaction. Locks the user's row first, which serializes the two confirmations of an address change.
 * Throws a `pg.DatabaseError` with code 23505 if a concurrent request takes the address or the number.
 */
export async function redeemToken(
  transaction: AsService,
  { token, device, now, finishesFlow }: RedeemInput,
): Promise<RedeemResult> {
  const userId = token.user_id;
  const user = await lockUser(transaction, userId);
  if (!user) return { outcome: 'invalid' };
  if (isBanned(user, now)) return { outcome: 'banned' };
  const byPhone = isTexted(token);
  const accepted = await (byPhone ? acceptNumber : acceptAddress)(transaction, { token, user, device, now });
  if ('outcome' in accepted) return accepted;
  const { isChanged, ...effects } = accepted;
  await deleteOneTimeTokens(transaction, userId);
  if (isChanged) {
    const event = byPhone ? 'phone_changed' : 'address_changed';
    await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event, device });
  }
  if (finishesFlow && token.flow_id !== null) {
    const flow = await findFlow(transaction, token.flow_id);
    if (!flow) return { outcome: 'invalid' };
    const code = await issueAuthCode(transaction, flow, userId, now);
    return { outcome: 'auth_code', code, account: await getAccount(transaction, userId), ...effects };
  }
  const started = await startSession(transaction, { userId, method: 'otp', byPhone, device, now });
  return { outcome: 'session', account: await getAccount(transaction, userId), started, ...effects };
}

type Accepted = { isChanged: boolean } & Effects;

async function acceptNumber(transaction: AsService, { token, user, now }: Acceptance): Promise<Accepted | Refusal> {
  const phone = token.purpose === 'phone_change' ? user.new_phone : user.phone;
  // The number may have changed since the code was sent.
  if (phone !== token.address || !(await consumeToken(transaction, token))) return { outcome: 'invalid' };
  const isChanged = phone !== user.phone;
  if (isChanged) {
    await releaseUnconfirmedPhone(transaction, phone, user.id);
    if (await findUserByPhone(transaction, phone)) return { outcome: 'taken' };
  }
  await confirmPhone(transaction, await getAccount(transaction, user.id), phone, now);
  const owner = { id: user.id, email: user.email_confirmed_at === null ? null : user.email };
  const previousPhone = user.phone_confirmed_at === null ? null : user.phone;
  return { isChanged, previousEmail: null, claim: null, phoneChange: isChanged ? { previousPhone, owner } : null };
}

async function acceptAddress(
  transaction: AsService,
  { token, user, device, now }: Acceptance,
): Promise<Accepted | Refusal> {
  const { id: userId } = user;
  let { email } = user;
  if (isAddressChange(token)) {
    if (user.new_email === null) return { outcome: 'invalid' };
    const addresses = { email: user.email, newEmail: user.new_email };
    const step = await confirmAddressChange(transaction, { token, ...addresses, now });
    if (step !== 'both') return { outcome: step };
    if (!(await takeAddress(transaction, user.new_email, { userId, now }))) return { outcome: 'taken' };
    email = user.new_email;
  } else if (token.address !== user.email || !(await consumeToken(transaction, token))) {
    return { outcome: 'invalid' };
  }
  const claim = claims(token, user)
    ? await claimAccount(transaction, user, { method: token.purpose, device, now })
    : null;
  if (email !== null)
    await confirmAddress(transaction, await getAccount(transaction, userId), { email, isProven: true, now });
  const isChanged = email !== user.email;
  return { isChanged, previousEmail: isChanged ? user.email : null, claim, phoneChange: null };
}

/**
 * True if the token claims the account, as the first proof of its address. The confirmation of a sign-up claims nothing
 * and keeps the password of that sign-up, because nobody could use the account before. A change of the address claims
 * nothing, because the account's own address has agreed to it.
 */
const claims = (token: FoundToken, user: UserRow): boolean =>
  !isAddressChange(token) && isUnproven(user) && !(token.purpose === 'signup' && user.email_confirmed_at === null);

const isAddressChange = (token: FoundToken): boolean =>
  token.purpose === 'email_change_current' || token.purpose === 'email_change_new';

type Confirmation = {
  token: FoundToken;
  /** Null if the user has no address: then the token of the new address suffices. */
  email: string | null;
  newEmail: string;
  now: Date;
};

/**
 * Threat: a user starts a change to address A, confirms A and starts a change to address B. Tokens of the first change
 * must not set B, which nobody has confirmed. A confirmation therefore counts only while the tokens were issued for
 * exactly the two addresses of the account.
 */
async function confirmAddressChange(
  transaction: AsService,
  { token, email, newEmail, now }: Confirmation,
): Promise<'both' | 'awaiting_other_address' | 'invalid'> {
  const live = await lockToken(transaction, token);
  if (!live) return 'invalid';
  const rows = await transaction.run(
    queryBuilder
      .selectFrom('auth.one_time_tokens')
      .selectAll()
      .where('user_id', '=', token.user_id)
      .where('purpose', 'in', ['email_change_current', 'email_change_new']),
  );
  const fresh = rows.find((row) => row.purpose === 'email_change_new' && row.address === newEmail);
  const current = rows.find((row) => row.purpose === 'email_change_current' && row.address === email);
  const [own, other] = token.purpose === 'email_change_new' ? [fresh, current] : [current, fresh];
  if (!own || own.confirmed_at !== null || !own.code_hash.equals(live.code_hash)) return 'invalid';
  if (email === null) return 'both';
  if (!other) return 'invalid';
  if (other.confirmed_at !== null) return 'both';
  await transaction.run(
    queryBuilder
      .updateTable('auth.one_time_tokens')
      .set({ confirmed_at: now })
      .where('user_id', '=', own.user_id)
      .where('purpose', '=', own.purpose),
  );
  return 'awaiting_other_address';
}

/**
 * False if another account has confirmed the address. Threat: a stranger signs up with the address that the user wants
 * to move to, and never confirms it. The user has just proven to own it, so the stranger's account gives it up.
 */
async function takeAddress(
  transaction: AsService,
  email: string,
  { userId, now }: { userId: string; now: Date },
): Promise<boolean> {
  const found = await findUserByEmail(transaction, email);
  if (!found || found.id === userId) return true;
  const owner = await lockUser(transaction, found.id);
  if (owner?.email !== email) return true;
  if (owner.email_confirmed_at !== null) return false;
  await releaseAddress(transaction, owner, now);
  // An account that was never used has now lost its address, so a job deletes it.
  const isUnused = owner.last_sign_in_at === null && owner.phone_confirmed_at === null;
  if (isUnused) await updateUser(transaction, owner.id, { password_hash: null, deletion_due_at: now });
  return true;
}
