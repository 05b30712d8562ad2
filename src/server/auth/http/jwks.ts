/** GET /.well-known/jwks.json: the public keys that verify access tokens. */
import type { Endpoint } from './auth-deps.ts';
import { JWKS_CACHE_SECONDS } from '../keys/signing-keys.ts';

export const jwks: Endpoint = async (context, { signingKeys }) => {
  context.header('Cache-Control', `public, max-age=${JWKS_CACHE_SECONDS}`);
  return context.json(await signingKeys.publish());
};
