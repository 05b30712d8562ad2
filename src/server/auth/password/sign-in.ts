/** POST /token?grant_type=password: signs in and starts a new session (docs/specification/api.md 9). */
import { normalizeAddress } from '#domain/account/account.ts';
import { findUserByEmail, findUserByPhone, isBanned } from '../accounts/accounts.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { findWeakness, formatPhone } from '../http/credentials.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { signInKey } from '../sessions/device-cookie.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { StalePasswordError, startSession } from '../sessions/sessions.ts';

export const grantPassword: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const { clock, passwords, limits, database } = deps;
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  if (email !== '' && phone !== '')
    throw invalidRequest('Only an email address or phone number should be provided on login.');
  if (phone !== '' && deps.sms === null)
    throw new AuthError(422, 'phone_provider_disabled', 'Phone logins are disabled');
  if (email === '' && phone === '') throw invalidRequest('missing email or phone');
  const byPhone = phone !== '';
  const address = byPhone ? formatPhone(phone) : normalizeAddress(email).toLowerCase();

  const service = database.asService('sign in');
  const user = await (byPhone ? findUserByPhone(service, address) : findUserByEmail(service, address));
  const now = clock.now();
  // Threat: account enumeration. An unknown address takes as long as a wrong password, and only a correct password
  // reveals that an account is banned or unconfirmed.
  const key = signInKey(context, deps, { address, user });
  const refund = await limits.consumeSignIn(key);
  const matches = await passwords.matches(password, user?.password_hash ?? null).catch(async (error: unknown) => {
    await refund();
    throw error;
  });
  if (!user || !matches) throw new AuthError('invalid_credentials');
  await refund();
  await limits.consumePassedSignIn(user.id);
  if (isBanned(user, now)) throw new AuthError(400, 'user_banned', 'User is banned');
  const confirmedAt = byPhone ? user.phone_confirmed_at : user.email_confirmed_at;
  if (confirmedAt === null)
    throw byPhone
      ? new AuthError(400, 'phone_not_confirmed', 'Phone not confirmed')
      : new AuthError(400, 'email_not_confirmed', 'Email not confirmed');

  const signIn = {
    userId: user.id,
    method: 'password',
    passwordHash: user.password_hash!,
    byPhone,
    device,
    now,
  } as const;
  const started = await startSession(service, signIn).catch((error: unknown) => {
    throw error instanceof StalePasswordError ? new AuthError('invalid_credentials') : error;
  });
  const weakness = findWeakness(deps.config, password);
  return context.json({
    ...(await respondWithSession(context, deps, { account: started.account, started })),
    ...(weakness && { weak_password: { message: weakness.message, reasons: weakness.weaknesses } }),
  });
};
