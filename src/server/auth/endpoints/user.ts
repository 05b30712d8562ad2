/** GET and PUT /user: the signed-in user's account (docs/specification/wire.md 12). */
import { mailAddressChange, mailIntervalMs, mailPasswordChanged } from '../mails/account-mails.ts';
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import { getAccount, claimMail, updateUser, findUserByEmail } from '../accounts/accounts.ts';
import type { UserRow } from '../accounts/accounts.ts';
import { findByCode, consumeToken, deleteOneTimeTokens } from '../accounts/one-time-tokens.ts';
import type { OneTimeRow } from '../accounts/one-time-tokens.ts';
import { endSessions } from '../accounts/sessions.ts';
import type { SessionRow } from '../accounts/sessions.ts';
import { parseNewPhone, requestPhoneChange } from '../phone/change-phone.ts';
import { reauthenticationTarget } from '../phone/reauthenticate-by-phone.ts';
import { consumeRecipientBudget } from '../phone/send-text.ts';
import { readBody } from '../wire/body.ts';
import { requireUser } from '../wire/require-user.ts';
import { checkMetadata, checkNewPassword, mergeMetadata, parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import type { AuthErrorName } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';
import { userJson } from '../wire/user-json.ts';

/** An older session must reauthenticate before it changes password or address (docs/specification/accounts.md 7). */
const FRESH_SESSION_MS = 24 * 3_600_000;

export const showUser: Endpoint = async (context, deps) =>
  context.json(userJson((await requireUser(context, deps)).account));

export const changeUser: Endpoint = async (context, deps) => {
  const { ip } = deviceOf(context, deps);
  await deps.limits.consume('user', ip);
  const { account, session } = await requireUser(context, deps);
  const { user } = account;
  const body = await readBody(context);
  if (body.has('app_metadata')) throw new AuthError('not_admin');
  const [data, password, nonce] = [body.object('data'), body.text('password'), body.text('nonce')];
  const newEmail = body.text('email') === '' ? user.email : parseEmail(body.text('email'));
  const changesEmail = newEmail !== null && newEmail !== user.email;
  const newPhone = parseNewPhone(deps, body, user);

  // Validate everything before changing anything.
  const metadata = data === null ? null : checkMetadata(mergeMetadata(user.raw_user_meta_data, data));
  if (password !== '') checkNewPassword(password);
  const reauthentication =
    changesEmail || newPhone !== null || password !== ''
      ? await requireReauthentication(deps, { user, session, nonce, error: reauthenticationError(password, newPhone) })
      : null;
  const passwordHash = password === '' ? null : await hashNewPassword(deps, user, password);
  // A request that repeats the pending address within the mail interval gets the same response and sends no mail.
  const sendsAddressMail = changesEmail && (await claimAddressMail(deps, user, newEmail, passwordHash !== null));
  if (newPhone !== null) await consumeRecipientBudget(deps, { phone: newPhone, ip });
  const service = deps.database.asService('change an account');
  if (reauthentication !== null && !(await consumeToken(service, reauthentication)))
    throw new AuthError('reauthentication_not_valid');

  if (metadata !== null) {
    const change = { raw_user_meta_data: JSON.stringify(metadata), updated_at: deps.clock.now() };
    await updateUser(service, user.id, change);
  }
  if (passwordHash !== null) await changePassword(deps, user, session, passwordHash);
  if (sendsAddressMail) {
    const redirectTo = redirectTarget(context, deps.config);
    await updateUser(service, user.id, { new_email: newEmail, updated_at: deps.clock.now() });
    const ownerOfNew = await findUserByEmail(service, newEmail);
    await mailAddressChange(deps, service, { user, newEmail, ownerOfNew, redirectTo });
  }
  if (newPhone !== null) await requestPhoneChange(deps, user, newPhone);
  return context.json(userJson(await getAccount(service, user.id)));
};

type ChangeRequest = { user: UserRow; session: SessionRow | null; nonce: string; error: AuthErrorName };

function reauthenticationError(password: string, newPhone: string | null): AuthErrorName {
  if (password !== '') return 'password_needs_reauthentication';
  return newPhone === null ? 'email_needs_reauthentication' : 'phone_needs_reauthentication';
}

/** Returns null for a fresh session, else the verified token of the mailed code, which the caller must consume. */
async function requireReauthentication(
  deps: AuthDeps,
  { user, session, nonce, error }: ChangeRequest,
): Promise<OneTimeRow | null> {
  const now = deps.clock.now();
  if (session !== null && now.getTime() - session.created_at.getTime() < FRESH_SESSION_MS) return null;
  if (nonce === '') throw new AuthError(error);
  const token = await findByCode(deps.database.asService('check a reauthentication'), {
    address: reauthenticationTarget(user)?.address ?? '',
    code: nonce,
    purposes: ['reauthentication'],
    now,
    key: deps.secrets.oneTimeCodes,
    userId: user.id,
  });
  if (!token) throw new AuthError('reauthentication_not_valid');
  return token;
}

async function hashNewPassword({ passwords }: AuthDeps, user: UserRow, password: string): Promise<string> {
  const isSame = user.password_hash !== null && (await passwords.matches(password, user.password_hash));
  if (isSame) throw new AuthError('same_password');
  return passwords.hash(password);
}

async function claimAddressMail(
  deps: AuthDeps,
  user: UserRow,
  newEmail: string,
  changesPassword: boolean,
): Promise<boolean> {
  const service = deps.database.asService('request an address change');
  const [intervalMs, now] = [mailIntervalMs(deps), deps.clock.now()];
  if (await claimMail(service, { userId: user.id, column: 'email_change_sent_at', intervalMs, now })) return true;
  if (user.new_email === newEmail && !changesPassword) return false;
  const waitMs = (user.email_change_sent_at?.getTime() ?? 0) + intervalMs - now.getTime();
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new AuthError('over_email_send_rate_limit', String(seconds), seconds);
}

/**
 * Also ends every other session, link and code, which locks out anyone with the old password
 * (docs/specification/wire.md 12).
 */
async function changePassword(deps: AuthDeps, user: UserRow, session: SessionRow | null, passwordHash: string) {
  const ended = await deps.database.transactAsService('change a password', async (transaction) => {
    const change = { password_hash: passwordHash, updated_at: deps.clock.now() };
    await updateUser(transaction, user.id, change);
    await deleteOneTimeTokens(transaction, user.id);
    return endSessions(transaction, user.id, session === null ? { all: true } : { except: session.id });
  });
  for (const id of ended) deps.accessTokens.invalidateSession(id);
  mailPasswordChanged(deps, user);
}
