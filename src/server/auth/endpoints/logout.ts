/** POST /logout?scope=global|local|others: ends sessions of the caller (docs/specification/wire.md 11). */
import type { Endpoint } from '../auth-deps.ts';
import { endSessions } from '../accounts/sessions.ts';
import type { SessionScope, SessionRow } from '../accounts/sessions.ts';
import { requireUser } from '../wire/require-user.ts';
import { AuthError } from '../wire/errors.ts';

export const logout: Endpoint = async (context, deps) => {
  const named = context.req.query('scope') ?? '';
  const { account, session } = await requireUser(context, deps);
  const service = deps.database.asService('sign out');
  const ended = await endSessions(service, account.user.id, parseScope(named, session));
  for (const id of ended) deps.accessTokens.invalidateSession(id);
  return context.body(null, 204);
};

/** A token without a session can only mean all of them. */
function parseScope(named: string, session: SessionRow | null): SessionScope {
  if (named === '' || named === 'global') return { all: true };
  if (named !== 'local' && named !== 'others') throw new AuthError('unsupported_logout_scope', named.slice(0, 64));
  if (session === null) return { all: true };
  return named === 'local' ? { only: session.id } : { except: session.id };
}
