/**
 * POST /signup: creates an account (docs/specification/wire.md 8).
 *
 * Threat: account enumeration. Without autoconfirm the response is the same for a new, an unconfirmed and a taken
 * address (docs/specification/accounts.md 2). So is its timing: a password is hashed or verified in each case, and
 * every response takes a minimum time. For a taken address supabase/auth returns an "obfuscated user" without
 * identities and with a new id at each call, which gives the address away. Here the response looks like a new user,
 * with ids that are stable per address.
 */
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
import { signUpByPhone } from '../phone/sign-up-by-phone.ts';
import { padResponseTime } from '../wire/min-response-time.ts';
import { readBody } from '../wire/body.ts';
import { checkMetadata, checkNewPassword, parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';
import { respondWithSession } from '../wire/session-response.ts';
import { idsOfTaken, signUpResponse } from '../wire/sign-up-response.ts';

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
  if (phone !== '') return signUpByPhone(context, deps, body);
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
  let ids = idsOfTaken(secrets.unknownAccounts, email);
  if (user.email_confirmed_at === null) {
    await mailConfirmation(deps, service, user, redirectTo);
    const identities = created?.identities ?? (await listIdentities(service, user.id));
    ids = { userId: user.id, identityId: identities[0]?.id ?? user.id };
  } else {
    await mailAccountExists(deps, service, user);
  }
  await padResponseTime(startedAt, MIN_SIGN_UP_MS);
  const facts = { ...data, ...emailIdentityData(ids.userId, email, false) };
  return context.json(signUpResponse({ ids, address: { email }, facts, appMetadata: EMAIL_APP_METADATA, now }));
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
