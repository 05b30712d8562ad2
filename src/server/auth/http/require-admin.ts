/** Authenticates a request to an admin route by its service token (docs/specification/wire.md 33). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from './auth-deps.ts';
import type { AccessClaims } from '../keys/access-tokens.ts';
import { ADMIN_ROLES } from '../keys/service-token.ts';
import { AuthError } from './errors.ts';
import { readBearer } from '../sessions/require-user.ts';

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
