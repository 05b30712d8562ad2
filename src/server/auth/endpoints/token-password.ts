/** POST /token?grant_type=password: signs in and starts a new session (docs/specification/wire.md 9). */
import type { Endpoint } from '../auth-deps.ts';
import { findUserByEmail, getAccount, isBanned } from '../accounts/accounts.ts';
import { startSession } from '../accounts/sessions.ts';
import { requireCaptcha } from '../captcha/require-captcha.ts';
import { readBody } from '../wire/body.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import { signInKey } from '../wire/device-cookie.ts';
import { respondWithSession } from '../wire/session-response.ts';

export const grantPassword: Endpoint = async (context, deps) => {
  const { clock, passwords, limits, database } = deps;
  const device = deviceOf(context, deps);
  await limits.consume('token', device.ip);
  const body = await readBody(context);
  await requireCaptcha(context, deps, body);
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  if (email !== '' && phone !== '') throw new AuthError('login_with_both');
  if (phone !== '') throw new AuthError('phone_logins_disabled');
  if (email === '') throw new AuthError('login_without_address');

  const service = database.asService('sign in');
  const user = await findUserByEmail(service, email.toLowerCase());
  const now = clock.now();
  // Threat: account enumeration. An unknown address takes as long as a wrong password, and only a correct password reveals
  // that an account is banned or unconfirmed.
  const refund = await limits.consumeSignIn(signInKey(context, deps, email));
  const matches = await passwords.matches(password, user?.password_hash ?? null).catch(async (error: unknown) => {
    await refund();
    throw error;
  });
  if (!user || !matches) throw new AuthError('invalid_credentials');
  await refund();
  if (isBanned(user, now)) throw new AuthError('sign_in_banned');
  if (user.email_confirmed_at === null) throw new AuthError('email_not_confirmed');

  const started = await startSession(service, { userId: user.id, method: 'password', device, now });
  return context.json(
    await respondWithSession(context, deps, { account: await getAccount(service, user.id), started }),
  );
};
