/**
 * POST /token?grant_type=refresh_token: the next tokens of a session (docs/specification/wire.md 10).
 *
 * A valid token is never answered with 429: the client takes that as final and signs its user out. Only failures count.
 */
import type { Endpoint } from '../auth-deps.ts';
import { getAccount } from '../accounts/accounts.ts';
import { hasRefreshTokenFormat, renewSession } from '../accounts/refresh-tokens.ts';
import { readBody } from '../wire/body.ts';
import { isBanned } from '../wire/require-user.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import type { AuthErrorName } from '../wire/errors.ts';
import { rememberDevice } from '../wire/known-device.ts';
import { sessionResponse } from '../wire/session-response.ts';

export const grantRefreshToken: Endpoint = async (context, deps) => {
  const { clock, database, limits, accessTokens, secrets } = deps;
  const device = deviceOf(context, deps);
  const refuse = async (name: AuthErrorName): Promise<never> => {
    await limits.consume('token', device.ip);
    throw new AuthError(name);
  };
  const token = (await readBody(context)).text('refresh_token');
  if (!hasRefreshTokenFormat(token)) return refuse('refresh_token_malformed');

  const renewal = await database.transactAsService('renewSession a session', (transaction) =>
    renewSession(transaction, { token, now: clock.now(), key: secrets.refreshTokens, ...device }),
  );
  if (renewal.outcome === 'unknown') return refuse('refresh_token_not_found');
  if (renewal.outcome === 'reused') {
    accessTokens.invalidateSession(renewal.sessionId);
    return refuse('refresh_token_already_used');
  }
  const account = await getAccount(database.asService('renewSession a session'), renewal.session.user_id);
  if (isBanned(account.user, clock.now())) return refuse('refresh_banned');
  const { session, token: refreshToken } = renewal;
  rememberDevice(context, deps, { email: account.user.email, sessionId: session.id });
  return context.json(await sessionResponse(accessTokens, account, { session, refreshToken }));
};
