/**
 * POST /token?grant_type=refresh_token: renews the tokens of a session (docs/specification/wire.md 10).
 *
 * A valid token never gets a 429, because clients treat a 429 as final and sign the user out. Only failures are rate
 * limited.
 */
import type { Endpoint } from '../auth-deps.ts';
import { getAccount, isBanned } from '../accounts/accounts.ts';
import { hasRefreshTokenFormat, renewSession } from '../accounts/refresh-tokens.ts';
import { readBody } from '../wire/body.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';
import type { AuthErrorName } from '../wire/errors.ts';
import { rememberDevice } from '../wire/device-cookie.ts';
import { sessionResponse } from '../wire/session-response.ts';

export const grantRefreshToken: Endpoint = async (context, deps) => {
  const { clock, database, limits, accessTokens, secrets } = deps;
  const device = deviceOf(context, deps);
  const reject = async (name: AuthErrorName): Promise<never> => {
    await limits.consume('token', device.ip);
    throw new AuthError(name);
  };
  const token = (await readBody(context)).text('refresh_token');
  if (!hasRefreshTokenFormat(token)) return reject('refresh_token_malformed');

  const renewal = await database.transactAsService('renew a session', (transaction) =>
    renewSession(transaction, { token, now: clock.now(), key: secrets.refreshTokens, ...device }),
  );
  if (renewal.outcome === 'unknown') return reject('refresh_token_not_found');
  if (renewal.outcome === 'reused') {
    accessTokens.invalidateSession(renewal.sessionId);
    return reject('refresh_token_already_used');
  }
  const account = await getAccount(database.asService('renew a session'), renewal.session.user_id);
  if (isBanned(account.user, clock.now())) return reject('refresh_banned');
  const { session, token: refreshToken } = renewal;
  const { email, phone } = account.user;
  rememberDevice(context, deps, { email, phone, sessionId: session.id });
  return context.json(await sessionResponse(accessTokens, account, { session, refreshToken }));
};
