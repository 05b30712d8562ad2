/** Reads the bearer token of a request: a user’s access token, or a service token of the operator. */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { identifyUser } from '#server/load/request-context.ts';
import { AccessTokenError, type AccessClaims } from '../keys/access-tokens.ts';
import { ADMIN_ROLES } from '../keys/service-token.ts';
import type { AuthDeps } from './auth-deps.ts';
import { AuthError } from './errors.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;

/** The token of the request's Authorization header, unchecked. */
export const findBearer = (context: Context<AppEnv>): string | undefined =>
  BEARER.exec(context.req.header('authorization') ?? '')?.[1];

/** The claims of the request's token, whose session may have ended. Throws `no_authorization` or `bad_jwt`. */
export async function readBearer(context: Context<AppEnv>, deps: AuthDeps): Promise<AccessClaims> {
  const token = findBearer(context);
  if (token === undefined) throw new AuthError(401, 'no_authorization', 'This endpoint requires a valid Bearer token');
  try {
    const claims = await deps.accessTokens.readClaims(token);
    if (claims.sub !== '') identifyUser(claims.sub);
    return claims;
  } catch (error) {
    if (error instanceof AccessTokenError)
      throw new AuthError(403, 'bad_jwt', `invalid JWT: unable to parse or verify signature, ${error.message}`);
    throw error;
  }
}

/**
 * Threat: privilege escalation by the role of a user. Only the operator signs tokens without a session, so a token with
 * a session is never an admin's, whatever its role.
 */
export const isAdminToken = ({ role, sessionId }: AccessClaims, roles = ADMIN_ROLES): boolean =>
  roles.has(role) && sessionId === null;

/** Throws `no_authorization`, `bad_jwt` or `not_admin`. `roles` are those that open the route. */
export async function requireAdmin(context: Context<AppEnv>, deps: AuthDeps, roles = ADMIN_ROLES): Promise<void> {
  if (!isAdminToken(await readBearer(context, deps), roles)) throw new AuthError('not_admin');
}
