/**
 * POST /signup: creates an account (docs/specification/wire.md 8).
 *
 * Threat: account enumeration. Without autoconfirm the response is the same for a new, an unconfirmed and a taken
 * address (docs/specification/accounts.md 2). So is its timing: a password is hashed or verified in each case, and the
 * remaining time is padded. For a taken address supabase/auth returns an "obfuscated user" without identities and with
 * a new id at each call, which reveals that the address is taken. Here the response looks like a new user's, with ids
 * that are stable per address.
 */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AsService } from '#server/database/database.ts';
import { ROUTES } from '#domain/routes.ts';
import { readMailRequest, mailConfirmation, mailAccountExists, type MailRequest } from '../codes/mail-codes.ts';
import type { Endpoint, AuthDeps } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import type { Body } from '../http/body.ts';
import { checkSignUpMetadata, checkPasswordFormat, parseEmail, checkNewPassword } from '../http/credentials.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { createAnonymousAccount, createAccountIfFree } from '../accounts/create-account.ts';
import { startSession } from '../sessions/sessions.ts';
import {
  getAccount,
  findUserByEmail,
  clearUnconfirmedPassword,
  listIdentities,
  emailIdentityData,
  EMAIL_APP_METADATA,
  findUserByPhone,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startPadding } from '../http/response-padding.ts';
import { checkChannel, parsePhone } from '../http/phone-number.ts';
import {
  clearUnprovenPassword,
  createPhoneAccount,
  phoneIdentityData,
  PHONE_APP_METADATA,
} from '../phone/phone-accounts.ts';
import { sendSignUpText, consumeRecipientBudget, accountExistsText, type Recipient } from '../phone/send-text.ts';
import { issueSignInCode } from '../codes/text-codes.ts';

type NewUser = { email: string; password: string; data: JsonObject; request: MailRequest };

type Given = { body: Body; device: Device; countRequest: () => Promise<void> };

export const signup: Endpoint<Given> = async (context, deps, { body, device, countRequest }) => {
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  const data = checkSignUpMetadata(body.object('data') ?? {});
  if (email === '' && phone === '') return signUpAnonymously(context, deps, { data, device, countRequest });
  if (!deps.config.auth.signups) throw new AuthError('signup_disabled');
  if (password === '') throw new AuthError('signup_without_password');
  checkPasswordFormat(deps.config, password);
  if (email !== '' && phone !== '')
    throw invalidRequest('Only an email address or phone number should be provided on signup.');
  if (phone !== '') return signUpByPhone(context, deps, { body, device });
  const newUser = { email: parseEmail(email), password, data, request: readMailRequest(context, deps, body) };
  await checkNewPassword(deps, password, { email, phone: null, data });
  return deps.config.auth.autoconfirm
    ? signUpAutoconfirmed(context, deps, newUser)
    : signUpWithConfirmation(context, deps, newUser);
};

async function signUpAnonymously(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { data, device, countRequest }: Omit<Given, 'body'> & { data: JsonObject },
): Promise<Response> {
  const { config, clock, database } = deps;
  if (!config.auth.anonymousUsers)
    throw new AuthError(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled');
  if (!config.auth.signups) throw new AuthError('signup_disabled');
  await countRequest();
  const now = clock.now();
  const signedUp = await database.transactAsService('sign up anonymously', async (transaction) => {
    const userId = await createAnonymousAccount(transaction, { data, device, now });
    const started = await startSession(transaction, { userId, method: 'anonymous', device, now });
    return { started, account: await getAccount(transaction, userId) };
  });
  return context.json(await respondWithSession(context, deps, signedUp));
}

/** Autoconfirm cannot hide whether the address is taken: the response is a session or `user_already_exists`. */
async function signUpAutoconfirmed(context: Context<AppEnv>, deps: AuthDeps, newUser: NewUser): Promise<Response> {
  const { database, clock, passwords } = deps;
  const { email, data, request } = newUser;
  const service = database.asService('sign up');
  if (await findUserByEmail(service, email)) throw new AuthError('user_already_exists');
  const passwordHash = await passwords.hash(newUser.password);
  const now = clock.now();
  const signedUp = await database.transactAsService('sign up', async (transaction) => {
    const { device } = request;
    const created = { email, passwordHash, data, confirmed: true, method: 'password', device, now } as const;
    const account = await createAccountIfFree(transaction, created);
    if (!account) return null;
    const started = await startSession(transaction, { userId: account.user.id, method: 'password', device, now });
    return { started, account: await getAccount(transaction, account.user.id) };
  });
  if (!signedUp) throw new AuthError('user_already_exists');
  return context.json(await respondWithSession(context, deps, signedUp));
}

async function signUpWithConfirmation(context: Context<AppEnv>, deps: AuthDeps, newUser: NewUser): Promise<Response> {
  const { database, clock, passwords, secrets } = deps;
  const { email, data, request } = newUser;
  const padding = startPadding();
  const now = clock.now();
  const service = database.asService('sign up');
  const existing = await findUserByEmail(service, email);
  // Verifying takes as long as hashing the password of a new account.
  const { matches, passwordHash } = await padding.exclude(async () => ({
    matches: existing !== null && (await passwords.matches(newUser.password, existing.password_hash)),
    passwordHash: existing ? null : await passwords.hash(newUser.password),
  }));
  let created: Account | null = null;
  if (existing && !matches) await clearUnconfirmedPassword(service, existing.id);
  if (!existing) {
    const { device } = request;
    const account = { email, passwordHash, data, confirmed: false, method: 'password', device, now } as const;
    created = await database.transactAsService('sign up', (transaction) => createAccountIfFree(transaction, account));
  }
  const user = created?.user ?? existing ?? (await findUserByEmail(service, email));
  if (!user) throw new AuthError('try_again');
  let ids = decoyIds(secrets.unknownAccounts, email);
  if (user.email_confirmed_at === null) {
    const identities = created?.identities ?? (await listIdentities(service, user.id));
    ids = { userId: user.id, identityId: identities[0]?.id ?? user.id };
  }
  deps.mailer.prepare(() =>
    user.email_confirmed_at === null ? mailConfirmation(deps, user, request) : mailAccountExists(deps, user),
  );
  await padding.finish();
  const facts = { ...data, ...emailIdentityData(ids.userId, email, false) };
  return context.json(signUpResponse({ ids, address: { email }, facts, appMetadata: EMAIL_APP_METADATA, now }));
}

/**
 * POST /signup with a number and a password (docs/specification/wire.md 26). A texted code always confirms the number,
 * also with AUTH_AUTOCONFIRM.
 *
 * Threat: account enumeration, as with addresses (`password/sign-up.ts`). A new, an unconfirmed and a taken number get
 * the same answer. Each gets a text too, so neither the provider's answer nor its delay tells them apart.
 */
async function signUpByPhone(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { body, device }: Omit<Given, 'countRequest'>,
): Promise<Response> {
  checkChannel(body);
  if (deps.sms === null) throw new AuthError('phone_provider_disabled');
  const phone = parsePhone(body.text('phone'));
  const data = checkSignUpMetadata(body.object('data') ?? {});
  const password = body.text('password');
  await checkNewPassword(deps, password, { email: null, phone, data });
  const padding = startPadding();
  const service = deps.database.asService('sign up');
  const now = deps.clock.now();
  const existing = await findUserByPhone(service, phone);
  // Verifying takes as long as hashing the password of a new account.
  const { matches, passwordHash } = await padding.exclude(async () => ({
    matches: existing !== null && (await deps.passwords.matches(password, existing.password_hash)),
    passwordHash: existing ? null : await deps.passwords.hash(password),
  }));
  // Runs before the budget may refuse the request. The owner may then enter the code of a stranger's earlier sign-up,
  // and the stranger's password must not survive that.
  if (existing && !matches) await clearUnprovenPassword(service, phone);
  await consumeBudgets(deps, { phone, ip: device.ip }).catch(async (error: unknown) => {
    await padding.finish();
    throw error;
  });
  const newAccount = { phone, passwordHash, data, now };
  const created = existing
    ? null
    : await deps.database.transactAsService('sign up', (transaction) => createPhoneAccount(transaction, newAccount));
  const user = created?.user ?? existing ?? (await findUserByPhone(service, phone));
  if (!user) throw new AuthError('try_again');
  const text = await issueText(deps, service, user, phone);
  const ids = await findIds(deps, service, { user, created, phone });
  await padding.finish();
  await sendSignUpText(deps, { phone, text, created, device });
  const facts = { ...data, ...phoneIdentityData(ids.userId, phone, false) };
  return context.json(signUpResponse({ ids, address: { phone }, facts, appMetadata: PHONE_APP_METADATA, now }));
}

/** Every number counts as one of a stranger, so that a refusal reveals no account. */
async function consumeBudgets(deps: AuthDeps, recipient: Recipient): Promise<void> {
  await consumeRecipientBudget(deps, recipient);
  await deps.limits.consumeSmsServer('open');
}

/** The owner of a taken number gets a notice instead of a code. */
function issueText(deps: AuthDeps, service: AsService, user: UserRow, phone: string): Promise<string> | string {
  if (user.phone_confirmed_at === null) return issueSignInCode(deps, service, user, phone);
  return accountExistsText(`${deps.config.publicUrl}${ROUTES.login.path}`);
}

async function findIds(
  { secrets }: AuthDeps,
  service: AsService,
  { user, created, phone }: { user: UserRow; created: Account | null; phone: string },
): Promise<SignUpIds> {
  if (user.phone_confirmed_at !== null) return decoyIds(secrets.unknownAccounts, phone);
  const identities = created?.identities ?? (await listIdentities(service, user.id));
  return { userId: user.id, identityId: identities[0]?.id ?? user.id };
}

type SignUp = {
  ids: SignUpIds;
  address: { email: string } | { phone: string };
  /** The request's `data`, merged with the identity's. */
  facts: JsonObject;
  appMetadata: { readonly provider: string; readonly providers: readonly string[] };
  now: Date;
};
type SignUpIds = { userId: string; identityId: string };

/**
 * The answer to a sign-up that waits for a confirmation: for a new, an unconfirmed and a taken address or number alike,
 * built only from the request, the time and two ids.
 */
function signUpResponse({ ids: { userId, identityId }, address, facts, appMetadata, now }: SignUp) {
  const at = now.toISOString();
  const identity = {
    identity_id: identityId,
    id: userId,
    user_id: userId,
    identity_data: facts,
    provider: appMetadata.provider,
    last_sign_in_at: at,
    created_at: at,
    updated_at: at,
    ...('email' in address && address),
  };
  return {
    id: userId,
    aud: 'authenticated',
    role: 'authenticated',
    email: '',
    phone: '',
    ...address,
    confirmation_sent_at: at,
    app_metadata: appMetadata,
    user_metadata: facts,
    identities: [identity],
    created_at: at,
    updated_at: at,
    is_anonymous: false,
  };
}

/** The ids in the answer for a taken address or number: stable, and not those of its account. */
const decoyIds = (key: Buffer, address: string): SignUpIds => ({
  userId: deriveUuid(key, `user:${address}`),
  identityId: deriveUuid(key, `identity:${address}`),
});

/** Deterministic per name, and indistinguishable from a random UUID (version 4) without the key. */
function deriveUuid(key: Buffer, name: string): string {
  const bytes = createHmac('sha256', key).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
