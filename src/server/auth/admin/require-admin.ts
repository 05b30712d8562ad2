/** Authenticates a request to an admin route by its service token (docs/specification/wire.md 33). */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from '../auth-deps.ts';
import { AuthError } from '../wire/errors.ts';
import { readBearer } from '../wire/require-user.ts';

export const ADMIN_ROLES: ReadonlySet<string> = new Set(['service_role', 'supabase_admin']);

/**
 * Throws `no_authorization`, `bad_jwt` or `not_admin`. Threat: privilege escalation by the role of a user. Only the
 * operator signs tokens without a session, so a token with a session is never an admin's, whatever its role.
 */
export async function requireAdmin(context: Context<AppEnv>, deps: AuthDeps): Promise<void> {
  const { role, sessionId } = await readBearer(context, deps);
  if (!ADMIN_ROLES.has(role) || sessionId !== null) throw new AuthError('not_admin');
}
