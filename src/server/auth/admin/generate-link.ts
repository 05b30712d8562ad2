/**
 * POST /admin/generate_link and POST /invite: links that are handed over by an administrator, or mailed as an
 * invitation (docs/specification/api.md 33).
 */
import type { Context } from 'hono';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { invitationMail } from '#server/mail/account-emails.ts';
import {
  createAccount,
  findUserByEmail,
  getAccount,
  updateUser,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import { recordAuditEvent, type AuditEvent } from '../accounts/audit-log.ts';
import { userJson } from '../accounts/user-json.ts';
import { beginAddressChange } from '../codes/address-change.ts';
import { mailLink, type LinkType } from '../codes/mail-codes.ts';
import { issueOneTimeToken, type IssuedToken } from '../codes/one-time-tokens.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { checkMetadata, checkNewPassword, mergeMetadata, parseEmail } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { isAllowedTarget, redirectTarget } from '../http/redirects.ts';
import { toTakenError } from './user-store.ts';

/** Longer than other links: people read an invitation later than a mail that they have asked for. */
const INVITATION_SECONDS = 86_400;

const TYPES = ['signup', 'invite', 'magiclink', 'recovery', 'email_change_current', 'email_change_new'] as const;
type RequestedType = (typeof TYPES)[number];

type LinkRequest = {
  email: string;
  passwordHash: string | null;
  /** Null if the request has no metadata. */
  data: Record<string, unknown> | null;
  newEmail: string;
  device: Device;
  now: Date;
};

type GeneratedLink = IssuedToken & { account: Account; type: RequestedType };

export const generateLink: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const type = TYPES.find((known) => known === body.text('type'));
  if (!type) throw invalidRequest(`Invalid email action link type requested: ${body.text('type').slice(0, 100)}`);
  const request = await readLinkRequest(deps, { body, device, type });
  const link = await runTransaction(deps, (transaction) => prepareLink(deps, transaction, type, request));
  const redirectTo = readRedirect(context, deps, body);
  return context.json({
    ...userJson(link.account),
    action_link: actionLink(deps, linkTypeOf(link.type), link.linkToken, redirectTo),
    email_otp: link.code,
    hashed_token: link.linkToken,
    redirect_to: redirectTo,
    verification_type: link.type,
  });
};

export const invite: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const request = await readLinkRequest(deps, { body, device, type: 'invite' });
  const { account, linkToken, code } = await runTransaction(deps, (transaction) =>
    prepareLink(deps, transaction, 'invite', request),
  );
  const link = mailLink(deps.config, 'invite', linkToken, redirectTarget(context, deps.config));
  deps.mailer.send(invitationMail({ to: request.email, link, code }));
  return context.json(userJson(account));
};

async function readLinkRequest(
  deps: AuthDeps,
  { body, device, type }: { body: Body; device: Device; type: RequestedType },
): Promise<LinkRequest> {
  const email = parseEmail(body.text('email'));
  const changesAddress = type === 'email_change_current' || type === 'email_change_new';
  const newEmail = changesAddress ? parseEmail(body.text('new_email')) : '';
  const password = type === 'signup' ? body.text('password') : '';
  if (type === 'signup' && password === '') throw new AuthError('signup_without_password');
  const data = body.object('data');
  if (password !== '') await checkNewPassword(deps, password, { email, phone: null, data: data ?? {} });
  return {
    email,
    newEmail,
    data: data && checkMetadata(mergeMetadata({}, data)),
    passwordHash: password === '' ? null : await deps.passwords.hash(password),
    device,
    now: deps.clock.now(),
  };
}

async function runTransaction(
  { database }: AuthDeps,
  work: (transaction: AsService) => Promise<GeneratedLink>,
): Promise<GeneratedLink> {
  try {
    return await database.transactAsService('generate a link', work);
  } catch (error) {
    throw toTakenError(error);
  }
}

/** supabase-js sends `redirect_to` in the query; other programs may send it in the body. */
function readRedirect(context: Context<AppEnv>, { config }: AuthDeps, body: Body): string {
  const wanted = body.text('redirect_to');
  return wanted !== '' && isAllowedTarget(wanted, config) ? wanted : redirectTarget(context, config);
}

/** Always `GET /verify`, never a page of our own client: the administrator's users may use another client. */
function actionLink({ config }: AuthDeps, type: LinkType, linkToken: string, redirectTo: string): string {
  const query = new URLSearchParams({ token: linkToken, type, redirect_to: redirectTo });
  return `${config.publicUrl}/auth/v1/verify?${query.toString()}`;
}

const linkTypeOf = (type: RequestedType): LinkType =>
  type === 'email_change_current' || type === 'email_change_new' ? 'email_change' : type;

async function prepareLink(
  deps: AuthDeps,
  transaction: AsService,
  type: RequestedType,
  request: LinkRequest,
): Promise<GeneratedLink> {
  const user = await findUserByEmail(transaction, request.email);
  if (type === 'email_change_current' || type === 'email_change_new') {
    if (!user) throw new AuthError('no_user_with_email');
    return prepareAddressChange(deps, transaction, type, user, request);
  }
  if (type === 'recovery') {
    if (!user) throw new AuthError('no_user_with_email');
    await record(transaction, user.id, request, 'recovery_requested');
    return issue(deps, transaction, type, user.id, request);
  }
  if (type === 'magiclink') {
    if (user) return issue(deps, transaction, type, user.id, request);
    const created = await createUnconfirmed(transaction, request);
    return issue(deps, transaction, 'signup', created, request);
  }
  if (user && user.email_confirmed_at !== null) throw new AuthError('email_exists');
  const userId = user
    ? await refreshUnconfirmed(transaction, user, request)
    : await createUnconfirmed(transaction, request);
  if (type === 'invite') {
    await updateUser(transaction, userId, { invited_at: request.now });
    await record(transaction, userId, request, 'invited');
  }
  return issue(deps, transaction, type, userId, request);
}

async function createUnconfirmed(transaction: AsService, request: LinkRequest): Promise<string> {
  const { email, passwordHash, data, now } = request;
  const account = { email, passwordHash, data: data ?? {}, confirmed: false, isManaged: true, now };
  const { user } = await createAccount(transaction, account);
  await record(transaction, user.id, request, 'created_by_admin');
  return user.id;
}

/** Gives an account whose address was never confirmed the administrator's password and metadata. */
async function refreshUnconfirmed(
  transaction: AsService,
  user: UserRow,
  { passwordHash, data, now }: LinkRequest,
): Promise<string> {
  await updateUser(transaction, user.id, {
    ...(passwordHash !== null && { password_hash: passwordHash }),
    ...(data !== null && {
      raw_user_meta_data: JSON.stringify(checkMetadata(mergeMetadata(user.raw_user_meta_data, data))),
    }),
    updated_at: now,
  });
  return user.id;
}

async function issue(
  deps: AuthDeps,
  transaction: AsService,
  type: Exclude<RequestedType, `email_change${string}`>,
  userId: string,
  { email, now }: LinkRequest,
): Promise<GeneratedLink> {
  const issued = await issueOneTimeToken(transaction, {
    userId,
    purpose: type,
    address: email,
    now,
    key: deps.secrets.oneTimeCodes,
    // A link that was mailed before stays valid, except an invitation, which the table `auth.earlier_links` does not
    // accept.
    keepsEarlierLinks: type !== 'invite',
    ...(type === 'invite' && { lifetimeSeconds: INVITATION_SECONDS }),
  });
  const confirms = type === 'signup' || type === 'invite';
  await updateUser(transaction, userId, { [confirms ? 'confirmation_sent_at' : 'recovery_sent_at']: now });
  return { ...issued, account: await getAccount(transaction, userId), type };
}

/**
 * A change needs two links, one for each address, and a call returns one of them. While a change to the same new
 * address is pending, a further call issues its link again and keeps the earlier links of both addresses valid.
 */
async function prepareAddressChange(
  deps: AuthDeps,
  transaction: AsService,
  purpose: 'email_change_current' | 'email_change_new',
  user: UserRow,
  { newEmail, device, now }: LinkRequest,
): Promise<GeneratedLink> {
  if (await findUserByEmail(transaction, newEmail)) throw new AuthError('email_exists');
  await updateUser(transaction, user.id, { email_change_sent_at: now });
  const rows = await transaction.run(
    queryBuilder
      .selectFrom('auth.one_time_tokens')
      .select(['address', 'confirmed_at', 'purpose'])
      .where('user_id', '=', user.id)
      .where('purpose', 'in', ['email_change_current', 'email_change_new'])
      .where('expires_at', '>', now),
  );
  const isPending = user.new_email === newEmail && rows.length === 2;
  const own = rows.find((row) => row.purpose === purpose);
  if (!isPending || !own) {
    const target = { redirectTo: deps.config.publicUrl, challenge: null, device };
    const halves = await beginAddressChange(deps, transaction, { user, newEmail, request: target, actor: 'service' });
    const half = halves.find((each) => each.purpose === purpose)!;
    return { ...half, account: await getAccount(transaction, user.id), type: purpose };
  }
  if (own.confirmed_at !== null)
    throw new AuthError(422, 'validation_failed', 'This address has confirmed the change already');
  const { address } = own;
  const token = { userId: user.id, purpose, address, now, key: deps.secrets.oneTimeCodes, keepsEarlierLinks: true };
  const issued = await issueOneTimeToken(transaction, token);
  return { ...issued, account: await getAccount(transaction, user.id), type: purpose };
}

const record = (
  transaction: AsService,
  userId: string,
  { device, now }: LinkRequest,
  event: AuditEvent,
): Promise<void> => recordAuditEvent(transaction, { at: now, userId, actor: 'service', event, device });
