/**
 * POST /logout?scope=global|local|others: ends sessions of the user (docs/specification/api.md 11).
 *
 * Threat: the thief of a password, who lacks the second factor, signs the owner out again and again. Therefore a
 * session that lacks its second step ends no session that has passed it.
 *
 * A sign-out that ends sessions has no limit, because each of them has cost a sign-in. One that ends none is limited
 * and adds no audit row.
 */
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Device } from '../http/device.ts';
import { invalidRequest } from '../http/errors.ts';
import { lacksSecondStep, lockSignedInUser, type AuthenticatedUser } from './require-user.ts';
import { endSessions, type SessionRow, type SessionScope } from './sessions.ts';

type Given = { caller: AuthenticatedUser; device: Device; countRequest: () => Promise<void> };

export const signOut: Endpoint<Given> = async (context, deps, { caller, device, countRequest }) => {
  const scope = context.req.query('scope') ?? '';
  const { account, session } = caller;
  const { id: userId } = account.user;
  const sessions = {
    ...parseScope(scope, session),
    ...(lacksSecondStep(account, session) && { aal: 'aal1' as const }),
  };
  const ended = await deps.database.transactAsService('sign out', async (transaction) => {
    // Threat: a stranger's request in flight ends the session with which the owner has just claimed the account.
    await lockSignedInUser(transaction, userId, session);
    const ids = await endSessions(transaction, userId, sessions);
    if (ids.length > 0) {
      await recordAuditEvent(transaction, {
        at: deps.clock.now(),
        userId,
        actor: 'user',
        event: 'signed_out',
        device,
        details: { sessions: ids.length },
      });
    }
    return ids;
  });
  if (ended.length === 0) await countRequest();
  deps.accessTokens.invalidateSessions(ended);
  return context.body(null, 204);
};

/** A token without a session, which only the operator signs, ends all sessions: `local` and `others` mean nothing to it. */
function parseScope(scope: string, session: SessionRow | null): SessionScope {
  if (scope === '' || scope === 'global') return { all: true };
  if (scope !== 'local' && scope !== 'others') throw invalidRequest(`Unsupported logout scope "${scope.slice(0, 64)}"`);
  if (session === null) return { all: true };
  return scope === 'local' ? { only: session.id } : { except: session.id };
}
