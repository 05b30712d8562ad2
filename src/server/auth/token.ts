/** POST /token?grant_type=…: dispatches to the grants (docs/specification/wire.md 9, 10, 24, 27 and 30). */
import type { Endpoint } from './http/auth-deps.ts';
import { lazyEndpoint } from './http/lazy-endpoint.ts';
import { grantPkce } from './sessions/exchange-code.ts';
import { grantPassword } from './password/sign-in.ts';
import { grantRefreshToken } from './sessions/renew.ts';
import { AuthError } from './http/errors.ts';

const GRANTS = new Map<string, Endpoint>([
  ['password', grantPassword],
  ['refresh_token', grantRefreshToken],
  ['pkce', grantPkce],
  ['id_token', lazyEndpoint(async () => (await import('./providers/id-token.ts')).grantIdToken)],
  ['web3', lazyEndpoint(async () => (await import('./wallets/sign-in.ts')).grantWeb3)],
]);

export const token: Endpoint = (context, deps) => {
  const grant = GRANTS.get(context.req.query('grant_type') ?? '');
  if (!grant) throw new AuthError(400, 'invalid_credentials', 'unsupported_grant_type');
  return grant(context, deps);
};
