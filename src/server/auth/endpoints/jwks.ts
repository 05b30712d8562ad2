/** GET /.well-known/jwks.json: the public key that verifies access tokens. */
import type { Endpoint } from '../auth-deps.ts';

export const jwks: Endpoint = (context, { signingKeys }) => {
  context.header('Cache-Control', 'public, max-age=600');
  return context.json(signingKeys.jwks);
};
