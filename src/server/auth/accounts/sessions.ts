import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { AuthTables, AuthenticationMethod } from '#server/database/tables/auth-tables.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { accountQuery, toAccount } from './accounts.ts';
import type { Account } from './accounts.ts';
import { auditRow } from './audit-log.ts';
import type { Device } from './device.ts';
import { createFirstRefreshToken } from './refresh-tokens.ts';

export type SessionRow = Selectable<AuthTables['auth.sessions']>;

/** Values of the `amr` claim (docs/specification/wire.md 7). */
export type SignInMethod =
  | 'password'
  | 'otp'
  | 'magiclink'
  | 'recovery'
  | 'invite'
  | 'email/signup'
  | 'email_change'
  | 'oauth'
  | 'sso/saml'
  | 'anonymous'
  | 'web3'
  | 'passkey';

type NewSession = {
  userId: string;
  method: SignInMethod;
  /** The identity that signed in, also named in the `amr` claim; `email` unless set. */
  provider?: string;
  /** The number signed in, not the address. */
  byPhone?: boolean;
  device: Device;
  now: Date;
};
export type StartedSession = { session: Pick<SessionRow, 'id' | 'aal' | 'amr'>; refreshToken: string };

/**
 * Inserts session, first refresh token and audit row and updates the sign-in time in one round trip. Signing in cancels a
 * pending deletion of the account (docs/specification/accounts.md 12).
 */
export async function startSession(service: AsService, newSession: NewSession): Promise<StartedSession> {
  const id = randomUUID();
  const { userId, method, provider, byPhone, device, now } = newSession;
  const amr: AuthenticationMethod[] = [
    { method, timestamp: Math.floor(now.getTime() / 1000), ...(provider !== undefined && { provider }) },
  ];
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
          .where('provider', '=', provider ?? (byPhone ? 'phone' : 'email')),
      )
      .with('audit', (query) =>
        query
          .insertInto('auth.audit_log')
          .values(
            auditRow({ at: now, userId, actor: 'user', event: 'signed_in', device, details: { method, provider } }),
          ),
      )
      .updateTable('auth.users')
      .set({ last_sign_in_at: now, updated_at: now, deletion_due_at: null })
      .where('id', '=', userId)
      .returning('id'),
  );
  return { session: { id, aal: 'aal1', amr }, refreshToken: refresh.token };
}

/** One statement. Null if the user does not exist; `session` is null for a null id and for a session of another user. */
export async function findAccountAndSession(
  service: AsService,
  userId: string,
  sessionId: string | null,
): Promise<{ account: Account; session: SessionRow | null } | null> {
  const [row] = await service.run(
    accountQuery(userId).select((query) =>
      jsonObjectFrom(
        query
          .selectFrom('auth.sessions as session')
          .selectAll('session')
          .where('session.id', '=', sessionId)
          .whereRef('session.user_id', '=', 'user.id'),
      ).as('session'),
    ),
  );
  if (!row) return null;
  const { session, ...account } = row;
  return {
    account: toAccount(account),
    session: session && {
      ...session,
      created_at: new Date(session.created_at),
      refreshed_at: session.refreshed_at === null ? null : new Date(session.refreshed_at),
    },
  };
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
