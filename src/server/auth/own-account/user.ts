/** GET and PUT /user: the signed-in user's account (docs/specification/api.md 12). */
import { isUniqueViolation } from '#server/database/database-error.ts';
import type { JsonObject } from '#server/database/tables.ts';
import { passwordChangedMail } from '#server/mail/account-emails.ts';
import { confirmAddress, getAccount, updateUser, type UserRow } from '../accounts/accounts.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { claimMail, sendNotice } from '../accounts/security-notice.ts';
import { userJson } from '../accounts/user-json.ts';
import { beginAddressChange, mailAddressChange } from '../codes/address-change.ts';
import { mailIntervalMs, readMailRequest, type MailRequest } from '../codes/mail-codes.ts';
import { consumeToken, deleteOneTimeTokens } from '../codes/one-time-tokens.ts';
import type { RequireReauthentication } from '../codes/prove-identity.ts';
import { issuePhoneCode } from '../codes/contact.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import {
  checkMetadata,
  checkNewPassword,
  checkPasswordFormat,
  mergeMetadata,
  parseEmail,
  checkChannel,
  parsePhone,
  type PasswordOwner,
} from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { consumeRecipientBudget, sendText } from '../phone/send-text.ts';
import {
  lacksSecondStep,
  lockSignedInUser,
  requireLiveSession,
  type AuthenticatedUser,
} from '../sessions/require-user.ts';
import { endSessions, type SessionRow, type SessionScope } from '../sessions/sessions.ts';

export const showUser: Endpoint<{ caller: AuthenticatedUser }> = (context, _deps, { caller: { account } }) => {
  const audience = context.req.header('x-jwt-aud') ?? '';
  if (audience !== '' && audience !== account.user.aud)
    throw invalidRequest("Token audience doesn't match request audience");
  return context.json(userJson(account));
};

type Given = {
  caller: AuthenticatedUser;
  device: Device;
  body: Body;
  requireReauthentication: RequireReauthentication;
};

export const changeUser: Endpoint<Given> = async (context, deps, given) => {
  const { body, device, requireReauthentication } = given;
  const { account, session } = given.caller;
  const { user } = account;
  if (body.has('app_metadata')) throw new AuthError('not_admin');
  const [data, password, nonce] = [body.object('data'), body.text('password'), body.text('nonce')];
  const newEmail = body.text('email') === '' ? user.email : parseEmail(body.text('email'));
  const changesEmail = newEmail !== null && newEmail !== user.email;
  const newPhone = parseNewPhone(deps, body, user);
  const request = readMailRequest(context, deps, body);
  // Threat: the thief of a password or of a recovery mail, who lacks the second factor, changes how the owner signs in.
  // Nor may such a person change the account's name and other metadata.
  const changesSignIn = changesEmail || newPhone !== null || password !== '';
  if ((changesSignIn || data !== null) && lacksSecondStep(account, session))
    throw new AuthError('user_change_needs_second_step');

  if (changesSignIn) await deps.limits.consumeChange({ account, session });
  // Validate everything before changing anything.
  checkMayChange(user, { addsAddress: changesEmail || newPhone !== null, password, nonce });
  const metadata = data === null ? null : checkMetadata(mergeMetadata(user.raw_user_meta_data, data));
  if (password !== '') checkPasswordFormat(deps.config, password);
  const reauthentication = changesSignIn
    ? await requireReauthentication(nonce, describeReauthentication(password, newPhone))
    : null;
  const owner = { email: newEmail, phone: newPhone ?? user.phone, data: metadata ?? user.raw_user_meta_data };
  const passwordHash = password === '' ? null : await hashNewPassword(deps, user, { password, owner });
  // An anonymous user signs up with the address, so AUTH_AUTOCONFIRM decides. Everybody else must prove a new address.
  const appliesAtOnce = changesEmail && user.is_anonymous && deps.config.auth.autoconfirm;
  const changes: ContactChange[] = [];
  if (changesEmail && !appliesAtOnce)
    changes.push(addressChange(deps, { user, session, newEmail, request, changesPassword: passwordHash !== null }));
  if (newPhone !== null) changes.push(numberChange(deps, { user, session, phone: newPhone, ip: device.ip }));
  const claimed: ContactChange[] = [];
  for (const change of changes) if (await change.claim()) claimed.push(change);
  const service = deps.database.asService('change an account');
  if (reauthentication !== null && !(await consumeToken(service, reauthentication)))
    throw new AuthError('reauthentication_not_valid');

  if (appliesAtOnce) await applyAddress(deps, { account, session }, newEmail, request.device);
  if (metadata !== null) await changeMetadata(deps, { user, session }, data!);
  if (passwordHash !== null) await changePassword(deps, user, { session, passwordHash, device: request.device });
  for (const change of claimed) await change.begin();
  return context.json(userJson(await getAccount(service, user.id)));
};

type Changes = { addsAddress: boolean; password: string; nonce: string };

function checkMayChange(user: UserRow, { addsAddress, password, nonce }: Changes): void {
  if (user.is_sso_user && (addsAddress || password !== '' || nonce !== ''))
    throw new AuthError(
      422,
      'user_sso_managed',
      'Updating email, phone, password of a SSO account only possible via SSO',
    );
  // A password is useless to an anonymous user who does not also add an address or a number to sign in with.
  if (user.is_anonymous && password !== '' && !addsAddress)
    throw new AuthError(
      422,
      'validation_failed',
      'Updating password of an anonymous user without an email or phone is not allowed',
    );
}

/**
 * Merges into the row as it is now: a concurrent request may have changed it, and a change of the address updates the
 * metadata too.
 */
async function changeMetadata(
  deps: AuthDeps,
  { user: { id }, session }: { user: UserRow; session: SessionRow | null },
  data: JsonObject,
): Promise<void> {
  await deps.database.transactAsService('change metadata', async (transaction) => {
    const user = await lockSignedInUser(transaction, id, session);
    const merged = checkMetadata(mergeMetadata(user?.raw_user_meta_data ?? {}, data));
    const change = { raw_user_meta_data: JSON.stringify(merged), updated_at: deps.clock.now() };
    await updateUser(transaction, id, change);
  });
}

/** Throws `email_exists`. Like a sign-up with AUTH_AUTOCONFIRM, this reveals whether the address is taken. */
async function applyAddress(
  deps: AuthDeps,
  { account, session }: AuthenticatedUser,
  email: string,
  device: Device,
): Promise<void> {
  const { id: userId } = account.user;
  const now = deps.clock.now();
  try {
    await deps.database.transactAsService('add an address', async (transaction) => {
      await lockSignedInUser(transaction, userId, session);
      await confirmAddress(transaction, account, { email, isProven: false, now });
      await deleteOneTimeTokens(transaction, userId);
      await recordAuditEvent(transaction, { at: now, userId, actor: 'user', event: 'address_changed', device });
    });
  } catch (error) {
    throw isUniqueViolation(error) ? new AuthError('email_exists') : error;
  }
}

function describeReauthentication(password: string, newPhone: string | null): string {
  const changed = password !== '' ? 'Password' : newPhone === null ? 'Email' : 'Phone';
  return `${changed} update requires reauthentication`;
}

type NewPassword = { password: string; owner: PasswordOwner };

async function hashNewPassword(deps: AuthDeps, user: UserRow, { password, owner }: NewPassword): Promise<string> {
  const { passwords } = deps;
  const isSame = user.password_hash !== null && (await passwords.matches(password, user.password_hash));
  if (isSame) throw new AuthError(422, 'same_password', 'New password should be different from the old password.');
  await checkNewPassword(deps, password, owner);
  return passwords.hash(password);
}

/** A new address or number, which becomes the account's once the messages that `begin` sends are confirmed. */
type ContactChange = {
  /**
   * Counts the message, before the request changes anything. False: the same request has sent it a moment ago, so
   * `begin` is not called. Throws if no message may be sent now.
   */
  claim(): Promise<boolean>;
  /** Throws `session_not_found` if the session has ended. */
  begin(): Promise<void>;
};

type AddressChange = {
  user: UserRow;
  session: SessionRow | null;
  newEmail: string;
  request: MailRequest;
  changesPassword: boolean;
};

const addressChange = (
  deps: AuthDeps,
  { user, session, newEmail, request, changesPassword }: AddressChange,
): ContactChange => ({
  /**
   * A request that repeats the pending address within the mail interval, and changes no password, gets the same
   * response and sends no mail.
   */
  async claim() {
    const service = deps.database.asService('request an address change');
    const [intervalMs, now] = [mailIntervalMs(deps), deps.clock.now()];
    if (await claimMail(service, { userId: user.id, column: 'email_change_sent_at', intervalMs, now })) return true;
    if (user.new_email === newEmail && !changesPassword) return false;
    const waitMs = (user.email_change_sent_at?.getTime() ?? 0) + intervalMs - now.getTime();
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    throw new AuthError('over_email_send_rate_limit', String(seconds), seconds);
  },
  async begin() {
    const change = { user, newEmail, request };
    const halves = await deps.database.transactAsService('begin an address change', async (transaction) => {
      await lockSignedInUser(transaction, user.id, session);
      return beginAddressChange(deps, transaction, change);
    });
    deps.mailer.prepare(() => mailAddressChange(deps, change, halves));
  },
});

type NumberChange = { user: UserRow; session: SessionRow | null; phone: string; ip: string };

/**
 * Threat: a signed-in user tries numbers to learn which have an account. A taken number gets the same code and the same
 * answer; only the person who enters that code, and so holds the phone, learns that the number is taken.
 */
const numberChange = (deps: AuthDeps, { user, session, phone, ip }: NumberChange): ContactChange => ({
  async claim() {
    await consumeRecipientBudget(deps, { phone, ip });
    return true;
  },
  async begin() {
    const now = deps.clock.now();
    const text = await deps.database.transactAsService('change a phone number', async (transaction) => {
      await lockSignedInUser(transaction, user.id, session);
      await updateUser(transaction, user.id, { new_phone: phone, phone_change_sent_at: now, updated_at: now });
      return issuePhoneCode(deps, transaction, { userId: user.id, purpose: 'phone_change', phone });
    });
    try {
      await sendText(deps, { phone, text, share: 'open' });
    } catch (error) {
      const service = deps.database.asService('undo a change of a phone number');
      const { new_phone, phone_change_sent_at } = user;
      await updateUser(service, user.id, { new_phone, phone_change_sent_at });
      throw error;
    }
  },
});

type PasswordChange = { session: SessionRow | null; passwordHash: string; device: Device };

/**
 * Stores the new password. Ends the user's other sessions, and the mailed links and codes, which locks out anyone with
 * the old password (docs/specification/accounts.md 6).
 */
async function changePassword(deps: AuthDeps, user: UserRow, { session, passwordHash, device }: PasswordChange) {
  const now = deps.clock.now();
  const { ended, hasLinks } = await deps.database.transactAsService('change a password', async (transaction) => {
    await updateUser(transaction, user.id, { password_hash: passwordHash, updated_at: now });
    await requireLiveSession(transaction, session);
    await deleteOneTimeTokens(transaction, user.id);
    // Threat: a thief's browser has a notification with a token. The tokens of reply addresses stay: a reply to today's
    // mail must not be lost.
    await transaction.statement("delete from public.mail_tokens where user_id = $1 and purpose = 'tap'", [user.id]);
    await recordAuditEvent(transaction, { at: now, userId: user.id, actor: 'user', event: 'password_changed', device });
    // Read-only links stay, because their owner shares them on purpose.
    const { rows } = await transaction.statement(
      'select id from public.document_links where user_id = $1 and expires_at > now() limit 1',
      [user.id],
    );
    const scope: SessionScope = session === null ? { all: true } : { except: session.id };
    return { ended: await endSessions(transaction, user.id, scope), hasLinks: rows.length > 0 };
  });
  deps.accessTokens.invalidateSessions(ended);
  const settingsLink = hasLinks ? `${deps.config.publicUrl}/settings` : null;
  sendNotice(deps, user, (notice) => passwordChangedMail({ ...notice, settingsLink }));
}

/**
 * Returns null if the request leaves the user's number as it is. Throws `phone_provider_disabled`, or
 * `validation_failed` for another channel than SMS or a malformed number.
 */
function parseNewPhone(deps: AuthDeps, body: Body, user: UserRow): string | null {
  if (body.text('phone') === '') return null;
  const phone = parsePhone(body.text('phone'));
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  checkChannel(body);
  return phone === user.phone && user.phone_confirmed_at !== null ? null : phone;
}
