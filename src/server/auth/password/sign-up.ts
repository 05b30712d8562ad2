/**
 * POST /signup: creates an account (docs/specification/wire.md 8).
 *
 * Threat: account enumeration. Without autoconfirm the response is the same for a new, an unconfirmed and a taken
 * address (docs/specification/accounts.md 2). So is its timing: a password is hashed or verified in each case, and the
 * remaining time is padded. For a taken address supabase/auth returns an "obfuscated user" without identities and with
 * a new id at each call, which reveals that the address is taken. Here the response looks like a new user's, with ids
 * that are stable per address.
 */
import type { Context } from 'hono';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { mailAccountExists, mailConfirmation } from '../codes/account-mails.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import {
  EMAIL_APP_METADATA,
  getAccount,
  clearUnconfirmedPassword,
  emailIdentityData,
  listIdentities,
  findUserByEmail,
  type Account,
} from '../accounts/accounts.ts';
import { startSession } from '../sessions/sessions.ts';
import { requireCaptcha } from '../http/captcha.ts';
import { createAccountIfFree, createAnonymousAccount } from '../accounts/create-account.ts';
import { signUpByPhone } from './sign-up-by-phone.ts';
import { startPadding } from '../http/response-padding.ts';
import { readBody } from '../http/body.ts';
import { checkSignUpMetadata, checkNewPassword, checkPasswordFormat, parseEmail } from '../http/credentials.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { readMailRequest, type MailRequest } from '../codes/mail-request.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { decoyIds, signUpResponse } from './sign-up-response.ts';

type NewUser = { email: string; password: string; data: JsonObject; request: MailRequest };

export const signup: Endpoint = async (context, deps) => {
  await deps.limits.consume('signup', deviceOf(context, deps).ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  const data = checkSignUpMetadata(body.object('data') ?? {});
  if (email === '' && phone === '') return signUpAnonymously(context, deps, data);
  if (!deps.config.auth.signups) throw new AuthError('signup_disabled');
  if (password === '') throw new AuthError('signup_without_password');
  checkPasswordFormat(deps.config, password);
  if (email !== '' && phone !== '') throw new AuthError('signup_with_both');
  if (phone !== '') return signUpByPhone(context, deps, body);
  const newUser = { email: parseEmail(email), password, data, request: readMailRequest(context, deps, body) };
  await checkNewPassword(deps, password, { email, phone: null, data });
  return deps.config.auth.autoconfirm
    ? signUpAutoconfirmed(context, deps, newUser)
    : signUpWithConfirmation(context, deps, newUser);
};

async function signUpAnonymously(context: Context<AppEnv>, deps: AuthDeps, data: JsonObject): Promise<Response> {
  const { config, clock, database, limits } = deps;
  if (!config.auth.anonymousUsers) throw new AuthError('anonymous_provider_disabled');
  if (!config.auth.signups) throw new AuthError('signup_disabled');
  const device = deviceOf(context, deps);
  await limits.consume('anonymous', device.ip);
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
