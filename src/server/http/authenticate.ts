/**
 * Who sends a request to the data wire or to a function: a guest, or the user of a verified access token.
 *
 * Clients without a session send their publishable key where a token would stand, so the key means "guest". Anything
 * else that claims to be a token must be a good one: a bad token is an error, never silently a guest, or somebody whose
 * session has ended would be shown an empty journal.
 */
import type { AccessTokens } from '../auth/keys/access-tokens.ts';
import type { Identity } from '../database/database.ts';

export type Caller = {
  /** null for a guest. */
  readonly userId: string | null;
  readonly identity: Identity;
};

const GUEST: Caller = { userId: null, identity: { role: 'anon', claimsJson: '{"role":"anon"}' } };
const BEARER = /^bearer +(.*)$/i;

/** Throws the AccessTokenError of a token that is not accepted. */
export async function authenticate(
  authorization: string | undefined,
  { accessTokens, publishableKey }: { accessTokens: Pick<AccessTokens, 'verify'>; publishableKey: string },
): Promise<Caller> {
  const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]?.trim();
  if (token === undefined || token === publishableKey || token.startsWith('sb_publishable_')) return GUEST;
  const claims = await accessTokens.verify(token);
  // Only our own key signs tokens, and only for users; whatever else such a token may say opens nothing.
  if (claims.role !== 'authenticated' || claims.sub === '') return GUEST;
  return { userId: claims.sub, identity: { role: 'authenticated', claimsJson: claims.json } };
}
