/**
 * GET /sessions and DELETE /sessions/{id}: the user's own sessions (docs/specification/api.md 34).
 *
 * Threat: the thief of a password, who lacks the second factor, learns when and where the owner works, or signs the
 * owner out again and again. Therefore both requests need the second step if the user has a second factor.
 */
import { recordAuditEvent } from '../accounts/audit-log.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import { describeDevice, type Device } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import type { AuthenticatedUser } from './require-user.ts';
import { endSessions, listSessions } from './sessions.ts';

export const showSessions: Endpoint<{ caller: AuthenticatedUser }> = async (context, deps, { caller }) => {
  const { account, session: current } = caller;
  const sessions = await listSessions(deps.database.asService('list own sessions'), account.user.id);
  const described = sessions.map((session) => ({
    id: session.id,
    device: describeDevice(session.user_agent),
    created_at: session.created_at.toISOString(),
    last_seen_at: (session.refreshed_at ?? session.created_at).toISOString(),
    current: session.id === current?.id,
    aal: session.aal,
  }));
  return context.json({ sessions: described.toSorted((a, b) => Number(b.current) - Number(a.current)) });
};

type Given = { caller: AuthenticatedUser; device: Device; ids: { id: string } };

export const endOwnSession: Endpoint<Given> = async (context, deps, { caller, device, ids: { id } }) => {
  const { user } = caller.account;
  const ended = await deps.database.transactAsService('end an own session', async (transaction) => {
    const endedIds = await endSessions(transaction, user.id, { only: id });
    if (endedIds.length > 0) {
      await recordAuditEvent(transaction, {
        at: deps.clock.now(),
        userId: user.id,
        actor: 'user',
        event: 'signed_out',
        device,
        details: { sessions: endedIds.length },
      });
    }
    return endedIds;
  });
  if (ended.length === 0) throw new AuthError('no_such_session');
  deps.accessTokens.invalidateSessions(ended);
  return context.body(null, 204);
};
