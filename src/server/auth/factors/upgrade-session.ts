/** Raises a session to `aal2` after a second step (docs/specification/wire.md 31). */
import type { AuthenticationMethod } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Device } from '../http/device.ts';
import { createFirstRefreshToken } from '../sessions/refresh-tokens.ts';
import type { SessionRow, StartedSession } from '../sessions/sessions.ts';

type LockedSession = Pick<SessionRow, 'id' | 'user_id' | 'aal' | 'amr'>;

/** Requires a transaction. Null if the session has ended. */
export async function lockSession(transaction: AsService, sessionId: string): Promise<LockedSession | null> {
  const [session] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sessions')
      .select(['id', 'user_id', 'aal', 'amr'])
      .where('id', '=', sessionId)
      .forUpdate(),
  );
  return session ?? null;
}

type SecondStep = {
  method: string;
  /** Null for a recovery code. */
  factorId: string | null;
  device: Device;
  now: Date;
};

export type UpgradedSession = {
  started: StartedSession;
  /** Ids of the sessions that were ended, for `AccessTokens.invalidateSession`. */
  ended: string[];
};

/**
 * Requires a transaction that holds the locks of the user's row and of the session. Every other session of the user
 * that has not passed a second step ends.
 *
 * Threat: a thief holds the refresh token of the session from before the second step. The parent of the active token is
 * accepted after a lost response (docs/specification/wire.md 10), so the thief's token would obtain `aal2`. A second
 * step therefore deletes all earlier refresh tokens of its session, and the new token descends from none of them.
 */
export async function upgradeSession(
  transaction: AsService,
  session: LockedSession,
  { method, factorId, now, device }: SecondStep,
): Promise<UpgradedSession> {
  const { id: sessionId, user_id: userId } = session;
  const amr: AuthenticationMethod[] = [
    { method, timestamp: Math.floor(now.getTime() / 1000) },
    ...session.amr.filter((entry) => entry.method !== method),
  ];
  const replaced = await transaction.run(
    queryBuilder.deleteFrom('auth.refresh_tokens').where('session_id', '=', sessionId).returning('generation'),
  );
  const refresh = createFirstRefreshToken();
  await transaction.run(
    queryBuilder
      .with('token', (query) =>
        query.insertInto('auth.refresh_tokens').values({
          session_id: sessionId,
          generation: Math.max(0, ...replaced.map((token) => token.generation)) + 1,
          token_hash: refresh.hash,
          salt: refresh.salt,
          created_at: now,
        }),
      )
      .updateTable('auth.sessions')
      .set({
        aal: 'aal2',
        amr: JSON.stringify(amr),
        factor_id: factorId,
        refreshed_at: now,
        ip: device.ip,
        user_agent: device.userAgent,
      })
      .where('id', '=', sessionId)
      .returning('id'),
  );
  const ended = await transaction.run(
    queryBuilder
      .deleteFrom('auth.sessions')
      .where('user_id', '=', userId)
      .where('id', '!=', sessionId)
      .where('aal', '=', 'aal1')
      .returning('id'),
  );
  return {
    started: { session: { id: sessionId, aal: 'aal2', amr }, refreshToken: refresh.token },
    ended: ended.map((row) => row.id),
  };
}
