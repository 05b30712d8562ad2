/**
 * POST /signup: a new account (docs/specification/wire.md 8).
 *
 * Without autoconfirm the answer is the same whether the address is new, waits for its confirmation or has an account
 * (docs/specification/accounts.md 2), and so is its time: a password is hashed in each case, and no answer leaves early. Upstream's
 * "obfuscated user" has no identities and another id at each call, by which anybody can tell; ours is built like a new
 * one, with ids that stay the same for an address.
 */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import pg from 'pg';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { mailAccountExists, mailConfirmation } from '../mails/account-mails.ts';
import type { AuthDeps, Endpoint } from '../auth-deps.ts';
import {
  EMAIL_APP_METADATA,
  getAccount,
  createAccount,
  clearUnconfirmedPassword,
  emailIdentityData,
  listIdentities,
  findUserByEmail,
} from '../accounts/accounts.ts';
import type { Account } from '../accounts/accounts.ts';
import { startSession } from '../accounts/sessions.ts';
import { padResponseTime } from '../wire/min-response-time.ts';
import { readBody } from '../wire/body.ts';
import { checkMetadata, checkNewPassword, parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import { rememberDevice } from '../wire/known-device.ts';
import { redirectTarget } from '../wire/redirects.ts';
import { sessionResponse } from '../wire/session-response.ts';

type NewUser = { email: string; password: string; data: JsonObject };

export const signup: Endpoint = async (context, deps) => {
  await deps.limits.consume('signup', deviceOf(context, deps).ip);
  const body = await readBody(context);
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  if (email === '' && phone === '') throw new AuthError('anonymous_provider_disabled');
  if (password === '') throw new AuthError('signup_without_password');
  checkNewPassword(password);
  if (email !== '' && phone !== '') throw new AuthError('signup_with_both');
  if (phone !== '') throw new AuthError('phone_provider_disabled');
  const newUser = { email: parseEmail(email), password, data: checkMetadata(body.object('data') ?? {}) };
  return deps.config.auth.autoconfirm
    ? signUpAutoconfirmed(context, deps, newUser)
    : signUpWithConfirmation(context, deps, newUser);
};

/** With autoconfirm the wire demands an answer that tells: the session starts, or the address is taken. */
async function signUpAutoconfirmed(context: Context<AppEnv>, deps: AuthDeps, newUser: NewUser): Promise<Response> {
  const { database, clock, passwords, accessTokens } = deps;
  const { email, data } = newUser;
  const service = database.asService('sign up');
  if (await findUserByEmail(service, email)) throw new AuthError('user_already_exists');
  const passwordHash = await passwords.hash(newUser.password);
  const now = clock.now();
  const signedUp = await database.transactAsService('sign up', async (transaction) => {
    const account = await createAccountIfFree(transaction, { email, passwordHash, data, confirmed: true, now });
    if (!account) return null;
    const device = deviceOf(context, deps);
    const started = await startSession(transaction, { userId: account.user.id, method: 'password', device, now });
    return { started, account: await getAccount(transaction, account.user.id) };
  });
  if (!signedUp) throw new AuthError('user_already_exists');
  rememberDevice(context, deps, { email });
  return context.json(await sessionResponse(accessTokens, signedUp.account, signedUp.started));
}

/** A few row writes differ between the cases; this is longer than any of them. */
const MIN_SIGN_UP_MS = 150;

async function signUpWithConfirmation(context: Context<AppEnv>, deps: AuthDeps, newUser: NewUser): Promise<Response> {
  const { database, clock, passwords, secrets } = deps;
  const { email, data } = newUser;
  const startedAt = performance.now();
  const now = clock.now();
  const redirectTo = redirectTarget(context, deps.config);
  const service = database.asService('sign up');
  const existing = await findUserByEmail(service, email);
  let created: Account | null = null;
  if (existing) {
    // As much work as hashing, in every case.
    const matches = await passwords.matches(newUser.password, existing.password_hash);
    if (!matches) await clearUnconfirmedPassword(service, existing.id);
  } else {
    const passwordHash = await passwords.hash(newUser.password);
    created = await database.transactAsService('sign up', (transaction) =>
      createAccountIfFree(transaction, { email, passwordHash, data, confirmed: false, now }),
    );
  }
  const user = created?.user ?? existing ?? (await findUserByEmail(service, email));
  if (!user) throw new AuthError('try_again');
  let ids = {
    userId: deriveUuid(secrets.unknownAccounts, `user:${email}`),
    identityId: deriveUuid(secrets.unknownAccounts, `identity:${email}`),
  };
  if (user.email_confirmed_at === null) {
    await mailConfirmation(deps, service, user, redirectTo);
    const identities = created?.identities ?? (await listIdentities(service, user.id));
    ids = { userId: user.id, identityId: identities[0]?.id ?? user.id };
  } else {
    await mailAccountExists(deps, service, user);
  }
  await padResponseTime(startedAt, MIN_SIGN_UP_MS);
  return context.json(signUpResponse({ ...ids, email, data, now }));
}

/** Null when somebody else has taken the address in the same moment. */
async function createAccountIfFree(
  service: AsService,
  given: Parameters<typeof createAccount>[1],
): Promise<Account | null> {
  try {
    return await createAccount(service, given);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '23505') return null;
    throw error;
  }
}

type SignedUp = { userId: string; identityId: string; email: string; data: JsonObject; now: Date };

/** The one answer for all three cases, made from the request and two ids alone. */
function signUpResponse({ userId, identityId, email, data, now }: SignedUp) {
  const at = now.toISOString();
  const facts = { ...data, ...emailIdentityData(userId, email, false) };
  const identity = {
    identity_id: identityId,
    id: userId,
    user_id: userId,
    identity_data: facts,
    provider: 'email',
    last_sign_in_at: at,
    created_at: at,
    updated_at: at,
    email,
  };
  return {
    id: userId,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    phone: '',
    confirmation_sent_at: at,
    app_metadata: EMAIL_APP_METADATA,
    user_metadata: facts,
    identities: [identity],
    created_at: at,
    updated_at: at,
    is_anonymous: false,
  };
}

/** Looks like a random UUID (version 4), and is the same for an address every time. */
function deriveUuid(key: Buffer, name: string): string {
  const bytes = createHmac('sha256', key).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
