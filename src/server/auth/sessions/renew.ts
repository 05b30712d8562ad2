/**
 * POST /token?grant_type=refresh_token: renews the tokens of a session (docs/specification/api.md 10).
 *
 * A valid token never gets a 429, because clients treat a 429 as final and sign the user out. Only failures are rate
 * limited.
 */
import { getAccount } from '../accounts/accounts.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, type AuthErrorCode } from '../http/errors.ts';
import { rememberDevice } from './device-cookie.ts';
import { hasRefreshTokenFormat, renewSession, rotateActiveToken, type Rotation } from './refresh-tokens.ts';
import { sessionResponse } from './session-response.ts';

type Given = { body: Body; device: Device; countRequest: () => Promise<void> };

export const grantRefreshToken: Endpoint<Given> = async (context, deps, { body, device, countRequest }) => {
  const { clock, database, accessTokens, secrets } = deps;
  const reject = async (code: AuthErrorCode, text: string): Promise<never> => {
    await countRequest();
    throw new AuthError(400, code, text);
  };
  const token = body.text('refresh_token');
  if (!hasRefreshTokenFormat(token)) return reject('validation_failed', 'Refresh token is not valid');

  const request = { token, now: clock.now(), key: secrets.refreshTokens, ...device };
  const rotation = (await rotateActiveToken(database.asService('renew a session'), request)) ?? (await renewOther());
  const { account, session, token: refreshToken } = rotation;
  rememberDevice(context, deps, account.user, { sessionId: session.id });
  return context.json(await sessionResponse(accessTokens, account, { session, refreshToken }));

  /** For a token that is not active, or a second request with the same token. */
  async function renewOther(): Promise<Rotation> {
    const renewal = await database.transactAsService('renew a session', (transaction) =>
      renewSession(transaction, request),
    );
    if (renewal.outcome === 'unknown')
      return reject('refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
    if (renewal.outcome === 'banned') return reject('user_banned', 'Invalid Refresh Token: User Banned');
    if (renewal.outcome === 'reused') {
      accessTokens.invalidateSession(renewal.sessionId);
      return reject('refresh_token_already_used', 'Invalid Refresh Token: Already Used');
    }
    const owner = await getAccount(database.asService('renew a session'), renewal.session.user_id);
    return { account: owner, session: renewal.session, token: renewal.token };
  }
};
