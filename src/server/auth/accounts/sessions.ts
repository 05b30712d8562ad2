import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AuthTables, AuthenticationMethod } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { createFirstRefreshToken } from './refresh-tokens.ts';

export type SessionRow = Selectable<AuthTables['auth.sessions']>;
export type Device = { ip: string; userAgent: string | null };

/** Values of the `amr` claim (docs/specification/wire.md 7). */
type SignInMethod = 'password' | 'otp';

type NewSession = { userId: string; method: SignInMethod; device: Device; now: Date };
export type StartedSession = { session: Pick<SessionRow, 'id' | 'aal' | 'amr'>; refreshToken: string };

/** Inserts session and first refresh token and updates the sign-in time in one round trip. */
export async function startSession(service: AsService, newSession: NewSession): Promise<StartedSession> {
  const id = randomUUID();
  const { userId, device, now } = newSession;
  const amr: AuthenticationMethod[] = [{ method: newSession.method, timestamp: Math.floor(now.getTime() / 1000) }];
  const refresh = createFirstRefreshToken();
  await service.run(
    queryBuilder
      .with('session', (query) =>
        query.insertInto('auth.sessions').values({
          id,
          user_id: userId,
          amr: JSON.stringify(amr),
          ip: device.ip,
          user_agent: device.userAgent,
          created_at: now,
        }),
      )
      .with('token', (query) =>
        query.insertInto('auth.refresh_tokens').values({
          session_id: id,
          generation: 1,
          token_hash: refresh.hash,
          salt: refresh.salt,
          created_at: now,
        }),
      )
      .with('identity', (query) =>
        query
          .updateTable('auth.identities')
          .set({ last_sign_in_at: now })
          .where('user_id', '=', userId)
          .where('provider', '=', 'email'),
      )
      .updateTable('auth.users')
      .set({ last_sign_in_at: now, updated_at: now })
      .where('id', '=', userId)
      .returning('id'),
  );
  return { session: { id, aal: 'aal1', amr }, refreshToken: refresh.token };
}

export async function findSession(service: AsService, id: string, userId: string): Promise<SessionRow | null> {
  const rows = await service.run(
    queryBuilder.selectFrom('auth.sessions').selectAll().where('id', '=', id).where('user_id', '=', userId),
  );
  return rows[0] ?? null;
}

/** The sessions of a user to end; `only` and `except` take a session id. */
export type SessionScope = { all: true } | { only: string } | { except: string };

/** Returns the ids of the ended sessions, for `AccessTokens.invalidateSession`. */
export async function endSessions(service: AsService, userId: string, scope: SessionScope): Promise<string[]> {
  let query = queryBuilder.deleteFrom('auth.sessions').where('user_id', '=', userId).returning('id');
  if ('only' in scope) query = query.where('id', '=', scope.only);
  if ('except' in scope) query = query.where('id', '!=', scope.except);
  return (await service.run(query)).map((row) => row.id);
}
