/**
 * POST /token?grant_type=refresh_token: renews the tokens of a session (docs/specification/api.md 10).
 *
 * A valid token never gets a 429, because clients treat a 429 as final and sign the user out. Only failures are rate
 * limited.
 */
import { getAccount, findUserById, isBanned } from '../accounts/accounts.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest, type AuthErrorCode } from '../http/errors.ts';
import { rememberDevice } from './device-cookie.ts';
import { hasRefreshTokenFormat, renewSession, rotateActiveToken, type Rotation } from './refresh-tokens.ts';
import { sessionResponse, respondWithSession } from './session-response.ts';
import { unseal } from '../keys/sealed.ts';
import { redeemAuthCode } from './flows.ts';
import { startSession, type SignInMethod } from './sessions.ts';

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

  /** For a token that is not active, a second request with the same token, or a banned user. */
  async function renewOther(): Promise<Rotation> {
    const renewal = await database.transactAsService('renew a session', (transaction) =>
      renewSession(transaction, request),
    );
    if (renewal.outcome === 'unknown')
      return reject('refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
    if (renewal.outcome === 'banned') return reject('user_banned', 'Invalid Refresh Token: User Banned');
    if (renewal.outcome === 'reused') {
      accessTokens.invalidateSessions([renewal.sessionId]);
      return reject('refresh_token_already_used', 'Invalid Refresh Token: Already Used');
    }
    const owner = await getAccount(database.asService('renew a session'), renewal.session.user_id);
    return { account: owner, session: renewal.session, token: renewal.token };
  }
};

/** POST /token?grant_type=pkce: exchanges an auth code for a session (docs/specification/api.md 24). */
export const grantPkce: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const { clock, database, secrets } = deps;
  const [code, verifier] = [body.text('auth_code'), body.text('code_verifier')];
  if (code === '' || verifier === '')
    throw invalidRequest('invalid request: both auth code and code verifier should be non-empty');
  const now = clock.now();
  const result = await database.transactAsService('exchange an auth code', async (transaction) => {
    const exchange = await redeemAuthCode(transaction, { code, verifier, now });
    if (exchange.outcome !== 'redeemed') return exchange;
    const { flow } = exchange;
    const user = await findUserById(transaction, flow.user_id);
    if (!user) return { outcome: 'unknown' } as const;
    if (isBanned(user, now)) return { outcome: 'banned' } as const;
    const started = await startSession(transaction, {
      userId: user.id,
      method: flow.method as SignInMethod,
      ...(flow.provider !== null && { provider: flow.provider }),
      device,
      now,
    });
    return { outcome: 'signed_in', flow, started, account: await getAccount(transaction, user.id) } as const;
  });
  if (result.outcome === 'unknown')
    throw new AuthError(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found');
  if (result.outcome === 'expired')
    throw new AuthError(422, 'flow_state_expired', 'invalid flow state, flow state has expired');
  if (result.outcome === 'wrong_verifier')
    throw new AuthError(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier');
  if (result.outcome === 'banned') throw new AuthError('user_banned');
  const { account, started, flow } = result;
  const sealed = flow.provider_secrets;
  const tokens = sealed && unseal(secrets.providerTokens, `flow:${flow.id}`, sealed);
  return context.json({
    ...(await respondWithSession(context, deps, { account, started })),
    ...(tokens !== null && (JSON.parse(tokens) as { provider_token?: string; provider_refresh_token?: string })),
  });
};
