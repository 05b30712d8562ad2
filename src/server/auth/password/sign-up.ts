/**
 * POST /signup: creates an account (docs/specification/api.md 8).
 *
 * Threat: account enumeration. Without autoconfirm the response is the same for a new, an unconfirmed and a taken
 * address (docs/specification/accounts.md 2). So is its timing: a password is hashed or verified in each case, and the
 * remaining time is padded. For a taken address supabase/auth returns an "obfuscated user" without identities and with
 * a new id at each call, which reveals that the address is taken. Here the response looks like a new user's, with ids
 * that are stable per address.
 */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { ROUTES } from '#domain/routes.ts';
import type { AsService } from '#server/database/database.ts';
import type { JsonObject } from '#server/database/tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import {
  EMAIL_APP_METADATA,
  emailIdentityData,
  findUserByEmail,
  getAccount,
  listIdentities,
  createAccountIfFree,
  createAnonymousAccount,
  type Account,
  type UserRow,
} from '../accounts/accounts.ts';
import { addressContact, findOrCreateAccount, numberContact, issueSignInCode, type Contact } from '../codes/contact.ts';
import { mailAccountExists, mailConfirmation, readMailRequest, type MailRequest } from '../codes/mail-codes.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import {
  checkNewPassword,
  checkPasswordFormat,
  checkSignUpMetadata,
  parseEmail,
  checkChannel,
  parsePhone,
} from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { startPadding } from '../http/response-padding.ts';
import { PHONE_APP_METADATA, phoneIdentityData } from '../phone/phone-accounts.ts';
import { accountExistsText, consumeRecipientBudget, sendSignUpText } from '../phone/send-text.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startSession } from '../sessions/sessions.ts';

type NewUser = { email: string; password: string; data: JsonObject; request: MailRequest };

type Given = { body: Body; device: Device; countRequest: () => Promise<void> };

export const signUp: Endpoint<Given> = async (context, deps, { body, device, countRequest }) => {
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  const data = checkSignUpMetadata(body.object('data') ?? {});
  if (email === '' && phone === '') return signUpAnonymously(context, deps, { data, device, countRequest });
  if (!deps.config.auth.signups) throw new AuthError('signup_disabled');
  if (password === '') throw new AuthError('signup_without_password');
  checkPasswordFormat(deps.config, password);
  if (email !== '' && phone !== '')
    throw invalidRequest('Only an email address or phone number should be provided on signup.');
  if (phone !== '') {
    const number = readNumber(deps, body);
    await checkNewPassword(deps, password, { email: null, phone: number, data });
    return signUpUnconfirmed(context, deps, { channel: phoneChannel(deps, number, device), password, data });
  }
  const newUser = { email: parseEmail(email), password, data, request: readMailRequest(context, deps, body) };
  await checkNewPassword(deps, password, { email, phone: null, data });
  return deps.config.auth.autoconfirm
    ? signUpAutoconfirmed(context, deps, newUser)
    : signUpUnconfirmed(context, deps, { channel: mailChannel(deps, newUser), password, data });
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

/** The differences between a sign-up with an address and one with a number. */
type Channel = {
  contact: Contact;
  device: Device;
  address: { email: string } | { phone: string };
  appMetadata: SignUp['appMetadata'];
  identityData: (userId: string) => JsonObject;
  /** Counts the message. Throws an AuthError if none may be sent. */
  countMessage?: () => Promise<void>;
  /** Prepares the message for the user, and returns what sends it once the padding is over. */
  prepareMessage: (service: AsService, user: UserRow) => Promise<(created: Account | null) => Promise<void>>;
};

type UnconfirmedSignUp = { channel: Channel; password: string; data: JsonObject };

/** Creates an account that waits for a mailed or texted code, and answers alike for a new and a taken address or number. */
async function signUpUnconfirmed(
  context: Context<AppEnv>,
  deps: AuthDeps,
  { channel, password, data }: UnconfirmedSignUp,
): Promise<Response> {
  const { database, clock, passwords } = deps;
  const { contact, device } = channel;
  const padding = startPadding();
  const now = clock.now();
  const service = database.asService('sign up');
  const existing = await contact.find(service);
  // Verifying takes as long as hashing the password of a new account.
  const { matches, passwordHash } = await padding.exclude(async () => ({
    matches: existing !== null && (await passwords.matches(password, existing.password_hash)),
    passwordHash: existing ? null : await passwords.hash(password),
  }));
  // Runs before `countMessage`, which may refuse the request. An owner who gets no new code may enter that of a
  // stranger's earlier sign-up, and the stranger's password must not survive that.
  if (existing && !matches) await contact.clearPassword(service, existing);
  await channel.countMessage?.().catch(async (error: unknown) => {
    await padding.finish();
    throw error;
  });
  const account = { passwordHash, data, method: 'password', device, now } as const;
  const { user, created } = await findOrCreateAccount(deps, { contact, existing, account });
  if (!user) throw new AuthError('try_again');
  const sendMessage = await channel.prepareMessage(service, user);
  const ids = await findIds(deps, service, { contact, user, created });
  await padding.finish();
  await sendMessage(created);
  const { address, appMetadata } = channel;
  const facts = { ...data, ...channel.identityData(ids.userId) };
  return context.json(signUpResponse({ ids, address, facts, appMetadata, now }));
}

async function findIds(
  { secrets }: AuthDeps,
  service: AsService,
  { contact, user, created }: { contact: Contact; user: UserRow; created: Account | null },
): Promise<SignUpIds> {
  if (contact.isConfirmed(user)) return decoyIds(secrets.unknownAccounts, contact.value);
  const identities = created?.identities ?? (await listIdentities(service, user.id));
  return { userId: user.id, identityId: identities[0]?.id ?? user.id };
}

const mailChannel = (deps: AuthDeps, { email, request }: Pick<NewUser, 'email' | 'request'>): Channel => ({
  contact: addressContact(email),
  device: request.device,
  address: { email },
  appMetadata: EMAIL_APP_METADATA,
  identityData: (userId) => emailIdentityData(userId, email, false),
  async prepareMessage(_service, user) {
    deps.mailer.prepare(() =>
      user.email_confirmed_at === null ? mailConfirmation(deps, user, request) : mailAccountExists(deps, user),
    );
    return async () => {};
  },
});

function readNumber({ sms }: AuthDeps, body: Body): string {
  checkChannel(body);
  if (sms === null) throw new AuthError('phone_provider_disabled');
  return parsePhone(body.text('phone'));
}

/**
 * A texted code always confirms the number, also with AUTH_AUTOCONFIRM (docs/specification/api.md 26). Each number gets
 * a text, so neither the provider's answer nor its delay tells a taken number from a free one.
 */
const phoneChannel = (deps: AuthDeps, phone: string, device: Device): Channel => ({
  contact: numberContact(phone),
  device,
  address: { phone },
  appMetadata: PHONE_APP_METADATA,
  identityData: (userId) => phoneIdentityData(userId, phone, false),
  // Counts as a text to a number without an account, also if the number has one, so that a refusal does not reveal it.
  async countMessage() {
    await consumeRecipientBudget(deps, { phone, ip: device.ip });
    await deps.limits.consumeSmsServer(null);
  },
  // The owner of a taken number gets a notice instead of a code.
  async prepareMessage(service, user) {
    const text =
      user.phone_confirmed_at === null
        ? await issueSignInCode(deps, service, user, phone)
        : accountExistsText(`${deps.config.publicUrl}${ROUTES.login.path}`);
    return (created) => sendSignUpText(deps, { phone, text, created, device });
  },
});

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
