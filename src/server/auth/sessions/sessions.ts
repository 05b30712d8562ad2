import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import { NOT_NULL_VIOLATION, sqlStateOf } from '#server/database/database-error.ts';
import type { AsService } from '#server/database/database.ts';
import { prepareQuery, queryBuilder } from '#server/database/query-builder.ts';
import type { AuthenticationMethod, Tables } from '#server/database/tables.ts';
import { accountQuery, accountsQuery, toAccount, type Account } from '../accounts/accounts.ts';
import type { Device } from '../http/device.ts';
import { createFirstRefreshToken } from './refresh-tokens.ts';

export type SessionRow = Selectable<Tables['auth.sessions']>;

/**
 * How a session can begin: values of the `amr` claim (docs/specification/api.md 7), to which second steps add others.
 */
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
  /**
   * The provider of the identity that signed in, for the `amr` claim. Unset for any other sign-in, such as by address.
   */
  provider?: string;
  /** The user signed in with the phone number, not the address. */
  byPhone?: boolean;
  /** The passkey that signed in. It has verified its user, which makes two factors: the session starts at `aal2`. */
  passkeyId?: string;
  /** The hash of the password that signed in. The session starts only while this is still the user's password. */
  passwordHash?: string;
  device: Device;
  now: Date;
};
export type StartedSession = {
  session: Pick<SessionRow, 'id' | 'aal' | 'amr'>;
  refreshToken: string;
  /** The sign-in has undone a deletion of the account (docs/specification/accounts.md 12). */
  undidDeletion?: boolean;
  /** The account's first sign-in. Every device is unknown then, so the owner gets no notice of a new device. */
  isFirst?: boolean;
};

type SessionValues = {
  id: string;
  userId: string;
  /** Null for a sign-in without a password. */
  passwordHash: string | null;
  aal: SessionRow['aal'];
  amr: string;
  passkeyId: string | null;
  provider: string;
  ip: string;
  userAgent: string | null;
  tokenHash: Buffer;
  salt: Buffer;
  details: string;
  undoDetails: string;
  now: Date;
};

const START_SESSION = prepareQuery((values: SessionValues) =>
  queryBuilder
    // Two reasons for this lock. (1) The user's row is locked before the undo token is deleted, as in
    // `redeemUndoToken`; otherwise the two transactions could deadlock. (2) Threat: a thief signs in with the old
    // password while the owner changes it, and this session outlives the change, which ends all others. PostgreSQL
    // compares `password_hash` again after it has waited for the lock.
    .with('locked', (query) =>
      query
        .selectFrom('auth.users')
        .select(['id', 'deletion_due_at'])
        .where('id', '=', values.userId)
        .where(({ eb, val }) => {
          const hash = eb.cast<string | null>(val(values.passwordHash), 'text');
          return eb.or([eb(hash, 'is', null), eb('password_hash', '=', hash)]);
        })
        .forUpdate(),
    )
    .with('pending', (query) => query.selectFrom('locked').select('id').where('deletion_due_at', 'is not', null))
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
              column.val(values.now).as('at'),
              'pending.id as user_id',
              column.val('user' as const).as('actor'),
              column.val('deletion_undone').as('event'),
              column.val(values.ip).as('ip'),
              column.val(values.userAgent).as('user_agent'),
              column.val(values.undoDetails).as('details'),
            ]),
        ),
    )
    .with('session', (query) =>
      query.insertInto('auth.sessions').values((row) => ({
        id: values.id,
        // Null without a locked row: then PostgreSQL rejects the whole statement.
        user_id: row.selectFrom('locked').select('locked.id').$castTo<string>(),
        aal: values.aal,
        amr: values.amr,
        passkey_id: values.passkeyId,
        ip: values.ip,
        user_agent: values.userAgent,
        created_at: values.now,
      })),
    )
    .with('token', (query) =>
      query
        .insertInto('auth.refresh_tokens')
        .values({
          session_id: values.id,
          generation: 1,
          token_hash: values.tokenHash,
          salt: values.salt,
          created_at: values.now,
        }),
    )
    .with('identity', (query) =>
      query
        .updateTable('auth.identities')
        .set({ last_sign_in_at: values.now })
        .where('user_id', '=', values.userId)
        .where('provider', '=', values.provider),
    )
    .with('audit', (query) =>
      query
        .insertInto('auth.audit_log')
        .values({
          at: values.now,
          user_id: values.userId,
          actor: 'user',
          event: 'signed_in',
          ip: values.ip,
          user_agent: values.userAgent,
          details: values.details,
        }),
    )
    .with('signed_in', (query) =>
      query
        .updateTable('auth.users')
        // The join makes PostgreSQL read `pending` before the update clears `deletion_due_at`.
        .from((from) => from.selectFrom('pending').select(from.fn.countAll<string>().as('count')).as('undone'))
        .set({ last_sign_in_at: values.now, updated_at: values.now, deletion_due_at: null })
        .where('auth.users.id', '=', values.userId)
        .returning(['auth.users.id', 'undone.count as undone']),
    )
    .selectFrom(accountsQuery().as('account'))
    .innerJoin('signed_in', 'signed_in.id', 'account.id')
    .selectAll('account')
    .select('signed_in.undone'),
);

/** The user's password was changed, or the account deleted, after the caller read the account. */
export class StalePasswordError extends Error {}

/**
 * Inserts session, first refresh token and audit rows, updates the sign-in time, undoes a pending deletion of the
 * account and reads the account, in one round trip. Throws if the account was deleted concurrently, and a
 * StalePasswordError if `passwordHash` is no longer the user's.
 */
export async function startSession(
  service: AsService,
  newSession: NewSession,
): Promise<StartedSession & { account: Account }> {
  const id = randomUUID();
  const { userId, method, provider, byPhone, passkeyId = null, passwordHash = null, device, now } = newSession;
  const aal = passkeyId === null ? 'aal1' : 'aal2';
  const amr: AuthenticationMethod[] = [
    { method, timestamp: Math.floor(now.getTime() / 1000), ...(provider !== undefined && { provider }) },
  ];
  const refresh = createFirstRefreshToken();
  const identity = provider ?? (byPhone ? 'phone' : 'email');
  const [row] = await START_SESSION.run(service, {
    id,
    userId,
    passwordHash,
    aal,
    amr: JSON.stringify(amr),
    passkeyId,
    provider: identity,
    ip: device.ip,
    userAgent: device.userAgent,
    tokenHash: refresh.hash,
    salt: refresh.salt,
    details: JSON.stringify({ method, provider }),
    undoDetails: JSON.stringify({ method }),
    now,
  }).catch((error: unknown) => {
    throw passwordHash !== null && sqlStateOf(error) === NOT_NULL_VIOLATION ? new StalePasswordError() : error;
  });
  if (!row) throw new Error('the account was deleted concurrently');
  const { undone, ...before } = row;
  const account = toAccount(before);
  return {
    session: { id, aal, amr },
    refreshToken: refresh.token,
    undidDeletion: Number(undone) > 0,
    isFirst: account.user.last_sign_in_at === null,
    account: markSignedIn(account, identity, now),
  };
}

/** Sets the columns that START_SESSION updates: a statement reads the rows as they were before its own updates. */
const markSignedIn = ({ user, identities, factors }: Account, provider: string, now: Date): Account => ({
  user: { ...user, last_sign_in_at: now, updated_at: now, deletion_due_at: null },
  identities: identities.map((each) => (each.provider === provider ? { ...each, last_sign_in_at: now } : each)),
  factors,
});

export const ACCOUNT_AND_SESSION = prepareQuery(({ userId, sessionId }: { userId: string; sessionId: string | null }) =>
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

/**
 * Sends one statement. Null if the user does not exist; `session` is null for a null id, for a session that has ended
 * and for a session of another user.
 */
export async function findAccountAndSession(
  service: AsService,
  userId: string,
  sessionId: string | null,
): Promise<{ account: Account; session: SessionRow | null } | null> {
  const [row] = await ACCOUNT_AND_SESSION.run(service, { userId, sessionId });
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

/** More than most people have devices. Older sessions are not listed, but "sign out everywhere else" ends them too. */
const MAX_LISTED_SESSIONS = 100;

/** The most recently used session comes first. */
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

/**
 * The sessions of a user to end; `only` and `except` take a session id. `aal` restricts them to one assurance level.
 */
export type SessionScope = ({ all: true } | { only: string } | { except: string }) & { aal?: SessionRow['aal'] };

/**
 * Returns the ids of the ended sessions, for `AccessTokens.invalidateSessions`. Ending all sessions, or all others, of
 * both levels also ends the personal access tokens of the user and the connections that wait for one
 * (docs/specification/capture.md 2).
 *
 * Threat: a thief has made a token. The owner changes the password or signs out everywhere, and the thief reads on.
 */
export async function endSessions(service: AsService, userId: string, scope: SessionScope): Promise<string[]> {
  if (!('only' in scope) && scope.aal === undefined) {
    await service.statement('delete from public.access_tokens where user_id = $1', [userId]);
    await service.statement('delete from public.connect_requests where approved_by = $1', [userId]);
  }
  let query = queryBuilder.deleteFrom('auth.sessions').where('user_id', '=', userId).returning('id');
  if ('only' in scope) query = query.where('id', '=', scope.only);
  if ('except' in scope) query = query.where('id', '!=', scope.except);
  if (scope.aal !== undefined) query = query.where('aal', '=', scope.aal);
  return (await service.run(query)).map((row) => row.id);
}
