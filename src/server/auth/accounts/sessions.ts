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
  /** The passkey that signed in. It has verified its user, which makes two factors: the session starts at `aal2`. */
  passkeyId?: string;
  device: Device;
  now: Date;
};
export type StartedSession = {
  session: Pick<SessionRow, 'id' | 'aal' | 'amr'>;
  refreshToken: string;
  /** The sign-in has undone a deletion of the account (docs/specification/accounts.md 12). */
  undidDeletion?: boolean;
};

/**
 * Inserts session, first refresh token and audit rows, updates the sign-in time and undoes a pending deletion of the
 * account, in one round trip.
 */
export async function startSession(service: AsService, newSession: NewSession): Promise<StartedSession> {
  const id = randomUUID();
  const { userId, method, provider, byPhone, passkeyId, device, now } = newSession;
  const aal = passkeyId === undefined ? 'aal1' : 'aal2';
  const amr: AuthenticationMethod[] = [
    { method, timestamp: Math.floor(now.getTime() / 1000), ...(provider !== undefined && { provider }) },
  ];
  const refresh = createFirstRefreshToken();
  const undone = auditRow({ at: now, userId, actor: 'user', event: 'deletion_undone', device, details: { method } });
  const [signedIn] = await service.run(
    queryBuilder
      // Locks the row before its token, as `undo-deletion.ts` does: otherwise the two could deadlock.
      .with('pending', (query) =>
        query
          .selectFrom('auth.users')
          .select('id')
          .where('id', '=', userId)
          .where('deletion_due_at', 'is not', null)
          .forUpdate(),
      )
      .with('undo_link', (query) =>
        query
          .deleteFrom('auth.one_time_tokens')
          .where('user_id', 'in', (row) => row.selectFrom('pending').select('pending.id'))
          .where('purpose', '=', 'undo_deletion'),
      )
      .with('undo_audit', (query) =>
        query
          .insertInto('auth.audit_log')
          .columns(['at', 'user_id', 'actor', 'event', 'ip', 'user_agent', 'details'])
          .expression((row) =>
            row
              .selectFrom('pending')
              .select((column) => [
                column.val(undone.at).as('at'),
                'pending.id as user_id',
                column.val(undone.actor).as('actor'),
                column.val(undone.event).as('event'),
                column.val(undone.ip).as('ip'),
                column.val(undone.user_agent).as('user_agent'),
                column.val(undone.details).as('details'),
              ]),
          ),
      )
      .with('session', (query) =>
        query.insertInto('auth.sessions').values({
          id,
          user_id: userId,
          aal,
          amr: JSON.stringify(amr),
          passkey_id: passkeyId ?? null,
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
      // Joined, so that `pending` is read before the update.
      .from((query) => query.selectFrom('pending').select(query.fn.countAll<string>().as('count')).as('undone'))
      .set({ last_sign_in_at: now, updated_at: now, deletion_due_at: null })
      .where('auth.users.id', '=', userId)
      .returning('undone.count as undone'),
  );
  return {
    session: { id, aal, amr },
    refreshToken: refresh.token,
    undidDeletion: Number(signedIn?.undone) > 0,
  };
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

/** More than a person has devices. Sessions beyond it are ended by "sign out everywhere else". */
const MAX_LISTED_SESSIONS = 100;

/** The most recently used first. */
export async function listSessions(service: AsService, userId: string): Promise<SessionRow[]> {
  return service.run(
    queryBuilder
      .selectFrom('auth.sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy((row) => row.fn.coalesce('refreshed_at', 'created_at'), 'desc')
      .orderBy('id')
      .limit(MAX_LISTED_SESSIONS),
  );
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
