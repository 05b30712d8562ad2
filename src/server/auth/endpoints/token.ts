/** POST /token?grant_type=…: dispatches to the grants (docs/specification/wire.md 9, 10, 24, 27 and 30). */
import type { Endpoint } from '../auth-deps.ts';
import { lazyEndpoint } from '../lazy-endpoint.ts';
import { grantPkce } from './token-pkce.ts';
import { grantPassword } from './token-password.ts';
import { grantRefreshToken } from './token-refresh.ts';
import { AuthError } from '../wire/errors.ts';

const GRANTS = new Map<string, Endpoint>([
  ['password', grantPassword],
  ['refresh_token', grantRefreshToken],
  ['pkce', grantPkce],
  ['id_token', lazyEndpoint(async () => (await import('../oauth/grant-id-token.ts')).grantIdToken)],
  ['web3', lazyEndpoint(async () => (await import('../web3/grant-web3.ts')).grantWeb3)],
]);

export const token: Endpoint = (context, deps) => {
  const grant = GRANTS.get(context.req.query('grant_type') ?? '');
  if (!grant) throw new AuthError('unsupported_grant_type');
  return grant(context, deps);
};
