/** POST /token?grant_type=pkce: exchanges an auth code for a session (docs/specification/api.md 24). */
import { findUserById, getAccount, isBanned } from '../accounts/accounts.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { unseal } from '../keys/sealed.ts';
import { redeemAuthCode } from './flows.ts';
import { respondWithSession } from './session-response.ts';
import { startSession, type SignInMethod } from './sessions.ts';

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
