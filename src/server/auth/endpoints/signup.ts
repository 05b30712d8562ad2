/**
 * POST /signup: creates an account (docs/specification/wire.md 8).
 *
 * Threat: account enumeration. Without autoconfirm the response is the same for a new, an unconfirmed and a taken
 * address (docs/specification/accounts.md 2). So is its timing: a password is hashed or verified in each case, and
 * every response takes a minimum time. For a taken address supabase/auth returns an "obfuscated user" without
 * identities and with a new id at each call, which gives the address away. Here the response looks like a new user,
 * with ids that are stable per address.
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
import { requireCaptcha } from '../captcha/require-captcha.ts';
import { padResponseTime } from '../wire/min-response-time.ts';
import { readBody } from '../wire/body.ts';
import { checkMetadata, checkNewPassword, parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';
import { respondWithSession } from '../wire/session-response.ts';

type NewUser = { email: string; password: string; data: JsonObject };

export const signup: Endpoint = async (context, deps) => {
  await deps.limits.consume('signup', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
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

/** With autoconfirm the wire requires a response that reveals whether the address is taken: a session or an error. */
async function signUpAutoconfirmed(context: Context<AppEnv>, deps: AuthDeps, newUser: NewUser): Promise<Response> {
  const { database, clock, passwords } = deps;
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
  return context.json(await respondWithSession(context, deps, signedUp));
}

/** Every sign-up response takes at least this long, which hides how long the database writes of its case take. */
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
    // Verifying takes as long as hashing the password of a new account.
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

/** Null if a concurrent request took the address. */
async function createAccountIfFree(
  service: AsService,
  account: Parameters<typeof createAccount>[1],
): Promise<Account | null> {
  try {
    return await createAccount(service, account);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '23505') return null;
    throw error;
  }
}

type SignUpFields = { userId: string; identityId: string; email: string; data: JsonObject; now: Date };

/**
 * The response for a new, an unconfirmed and a taken address alike, built only from the request, the time and two ids.
 */
function signUpResponse({ userId, identityId, email, data, now }: SignUpFields) {
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

/** Deterministic per name, and indistinguishable from a random UUID (version 4) without the key. */
function deriveUuid(key: Buffer, name: string): string {
  const bytes = createHmac('sha256', key).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
