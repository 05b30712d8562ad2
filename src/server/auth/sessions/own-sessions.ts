/**
 * GET /sessions and DELETE /sessions/{id}: the user's own sessions (docs/specification/wire.md 34).
 *
 * Threat: the thief of a password, who lacks the second factor, learns when and where the owner works, or signs the
 * owner out again and again. Therefore both requests need the second step if the user has a second factor.
 */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { recordAuditEvent } from '../accounts/audit-log.ts';
import { endSessions, listSessions } from './sessions.ts';
import { UUID } from '../keys/access-tokens.ts';
import { deviceOf } from '../http/device.ts';
import { AuthError } from '../http/errors.ts';
import { lacksSecondStep, requireUser, type AuthenticatedUser } from './require-user.ts';
import { describeDevice } from './describe-device.ts';

export const showSessions: Endpoint = async (context, deps) => {
  const { account, session: current } = await requireWholeSession(context, deps);
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

export const endOwnSession: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('user', device.ip);
  const { user } = (await requireWholeSession(context, deps)).account;
  const id = context.req.param('id') ?? '';
  if (!UUID.test(id)) throw new AuthError('no_such_session');
  const ended = await deps.database.transactAsService('end an own session', async (transaction) => {
    const ids = await endSessions(transaction, user.id, { only: id });
    if (ids.length > 0) {
      await recordAuditEvent(transaction, {
        at: deps.clock.now(),
        userId: user.id,
        actor: 'user',
        event: 'signed_out',
        device,
        details: { sessions: ids.length },
      });
    }
    return ids;
  });
  if (ended.length === 0) throw new AuthError('no_such_session');
  for (const endedId of ended) deps.accessTokens.invalidateSession(endedId);
  return context.body(null, 204);
};

async function requireWholeSession(context: Context<AppEnv>, deps: AuthDeps): Promise<AuthenticatedUser> {
  const signedIn = await requireUser(context, deps);
  if (lacksSecondStep(signedIn.account, signedIn.session))
    throw new AuthError(403, 'insufficient_aal', 'AAL2 session is required to manage sessions when MFA is enabled');
  return signedIn;
}
