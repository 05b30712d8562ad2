/** GET and PUT /user: the caller's own account (docs/specification/wire.md 12). */
import { mailAddressChange, mailIntervalMs, mailPasswordChanged } from '../mails/account-mails.ts';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AuthParts, Endpoint } from '../auth-deps.ts';
import { accountById, claimMail, updateUser, userByEmail } from '../accounts/accounts.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { findByCode, useUp, wipeOneTimeTokens } from '../accounts/one-time-tokens.ts';
import type { OneTimeRow } from '../accounts/one-time-tokens.ts';
import { endSessions } from '../accounts/sessions.ts';
import type { SessionRow } from '../accounts/sessions.ts';
import { readBody } from '../wire/body.ts';
import { callerOf } from '../wire/require-user.ts';
import { checkMetadata, checkNewPassword, checkedEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';
import { userJson } from '../wire/user-json.ts';

/** An older session must prove itself again before it changes how the account is reached (docs/specification/accounts.md 7). */
const FRESH_SESSION_MS = 24 * 3_600_000;

export const showUser: Endpoint = async (context, parts) =>
  context.json(userJson((await callerOf(context, parts)).account));

export const changeUser: Endpoint = async (context, parts) => {
  await parts.limits.consume('user', deviceOf(context, parts).ip);
  const { account, session } = await callerOf(context, parts);
  const { user } = account;
  const body = await readBody(context);
  if (body.has('app_metadata')) throw new AuthError('not_admin');
  if (body.text('phone') !== '') throw new AuthError('phone_provider_disabled');
  const [data, password, nonce] = [body.object('data'), body.text('password'), body.text('nonce')];
  const newEmail = body.text('email') === '' ? user.email : checkedEmail(body.text('email'));
  const changesEmail = newEmail !== null && newEmail !== user.email;

  // Everything is checked before anything is changed.
  const metadata = data === null ? null : checkMetadata(mergedMetadata(user.raw_user_meta_data, data));
  if (password !== '') checkNewPassword(password);
  const proof = changesEmail || password !== '' ? await freshProof(parts, { user, session, nonce, password }) : null;
  const passwordHash = password === '' ? null : await hashDifferentPassword(parts, user, password);
  // Asking again for the same address soon after is answered like the first time and sends nothing.
  const sendsAddressMail = changesEmail && (await claimAddressMail(parts, user, newEmail, passwordHash !== null));
  const service = parts.database.asService('change an account');
  if (proof !== null && !(await useUp(service, proof))) throw new AuthError('reauthentication_not_valid');

  if (metadata !== null) {
    const change = { raw_user_meta_data: JSON.stringify(metadata), updated_at: parts.clock.now() };
    await updateUser(service, user.id, change);
  }
  if (passwordHash !== null) await changePassword(parts, user, session, passwordHash);
  if (sendsAddressMail) {
    const redirectTo = redirectTarget(context, parts.config);
    await updateUser(service, user.id, { new_email: newEmail, updated_at: parts.clock.now() });
    const ownerOfNew = await userByEmail(service, newEmail);
    await mailAddressChange(parts, service, { user, newEmail, ownerOfNew, redirectTo });
  }
  return context.json(userJson(await accountById(service, user.id)));
};

/** A shallow merge; null removes a key. */
function mergedMetadata(now: JsonObject, change: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...now, ...change }).filter(([, value]) => value !== null));
}

type Asking = { user: UserRow; session: SessionRow | null; nonce: string; password: string };

/** Null where the session is young enough; else the code that was mailed, which is still to be used up. */
async function freshProof(parts: AuthParts, { user, session, nonce, password }: Asking): Promise<OneTimeRow | null> {
  const now = parts.clock.now();
  if (session !== null && now.getTime() - session.created_at.getTime() < FRESH_SESSION_MS) return null;
  if (nonce === '') {
    throw new AuthError(password === '' ? 'email_needs_reauthentication' : 'password_needs_reauthentication');
  }
  const token = await findByCode(parts.database.asService('check a reauthentication'), {
    address: user.email ?? '',
    code: nonce,
    purposes: ['reauthentication'],
    now,
    key: parts.secrets.oneTimeCodes,
    userId: user.id,
  });
  if (!token) throw new AuthError('reauthentication_not_valid');
  return token;
}

async function hashDifferentPassword({ passwords }: AuthParts, user: UserRow, password: string): Promise<string> {
  const isSame = user.password_hash !== null && (await passwords.matches(password, user.password_hash));
  if (isSame) throw new AuthError('same_password');
  return passwords.hash(password);
}

async function claimAddressMail(parts: AuthParts, user: UserRow, newEmail: string, wipes: boolean): Promise<boolean> {
  const service = parts.database.asService('ask for an address change');
  const [intervalMs, now] = [mailIntervalMs(parts), parts.clock.now()];
  if (await claimMail(service, { userId: user.id, column: 'email_change_sent_at', intervalMs, now })) return true;
  if (user.new_email === newEmail && !wipes) return false;
  const waitMs = (user.email_change_sent_at?.getTime() ?? 0) + intervalMs - now.getTime();
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new AuthError('over_email_send_rate_limit', String(seconds), seconds);
}

/** Ends every other session and every link on its way: whoever else had the old password is out (docs/specification/wire.md 12). */
async function changePassword(parts: AuthParts, user: UserRow, session: SessionRow | null, passwordHash: string) {
  const ended = await parts.database.transactAsService('change a password', async (transaction) => {
    const change = { password_hash: passwordHash, updated_at: parts.clock.now() };
    await updateUser(transaction, user.id, change);
    await wipeOneTimeTokens(transaction, user.id);
    return endSessions(transaction, user.id, session === null ? { all: true } : { except: session.id });
  });
  for (const id of ended) parts.accessTokens.endSession(id);
  mailPasswordChanged(parts, user);
}
