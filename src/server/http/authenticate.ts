/**
 * Authenticates a request to the data API or a function as a guest or as the user of a verified access token.
 *
 * Clients without a session send their publishable key as the Bearer token, so the key means "guest". Any other token
 * must be valid: treating an invalid one as a guest would show an empty journal to a user whose session has ended.
 */
import type { Context } from 'hono';
import type { Identity } from '../database/database.ts';
import { identifyUser } from '../load/request-context.ts';
import type { AppEnv, VerifyOptions } from './app-env.ts';

/** A signed-in user, whom the routers hand to their handlers. */
export type SignedInCaller = { readonly userId: string; readonly identity: Identity };

export type Guest = { readonly userId: null; readonly identity: Identity };
export type Caller = SignedInCaller | Guest;

/** The verifier of access tokens (`auth/keys/access-tokens.ts`): the user, the role and the claims that policies read. */
export type TokenVerifier = {
  verify(token: string, options?: VerifyOptions): Promise<{ sub: string; role: string; json: string }>;
};

const GUEST: Guest = { userId: null, identity: { role: 'anon', claimsJson: '{"role":"anon"}' } };
const BEARER = /^bearer +(.*)$/i;

export const readBearer = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]?.trim();

type CallerCheck = { accessTokens: TokenVerifier; publishableKey: string };

/** Throws an AccessTokenError for an invalid token. */
export async function authenticate(
  authorization: string | undefined,
  { accessTokens, publishableKey }: CallerCheck,
  options?: VerifyOptions,
): Promise<Caller> {
  const token = readBearer(authorization);
  if (token === undefined || token === publishableKey || token.startsWith('sb_publishable_')) return GUEST;
  const claims = await accessTokens.verify(token, options);
  // Threat: privilege escalation by a signed token with another role, such as service_role. It is treated as a guest.
  if (claims.role !== 'authenticated' || claims.sub === '') return GUEST;
  identifyUser(claims.sub);
  return { userId: claims.sub, identity: { role: 'authenticated', claimsJson: claims.json } };
}

/** Authenticates the caller of a request, and lets `limit-body.ts` do so again once the body has arrived. */
export function authenticateRequest(context: Context<AppEnv>, check: CallerCheck): Promise<Caller> {
  const authenticateCaller = (options?: VerifyOptions) =>
    authenticate(context.req.header('authorization'), check, options);
  context.set('authenticateAgain', authenticateCaller);
  return authenticateCaller();
}
