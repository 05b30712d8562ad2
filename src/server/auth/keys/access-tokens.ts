/**
 * Issues access tokens, valid for an hour, and verifies those of requests.
 *
 * Verifying a signature is expensive, so the claims of verified tokens are cached by token.
 *
 * A session can end before its token expires. `verify` therefore checks that the session exists, that its user is not
 * banned and that no second step is missing, and caches a success for 30 seconds. A sign-out in this process drops it
 * at once. Other processes accept the token until their 30 seconds are over.
 */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#server/clock.ts';
import type { Database } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { AuthenticationMethod, JsonObject } from '#server/database/tables.ts';
import type { VerifyOptions } from '#server/http/app-env.ts';
import { ALGORITHMS } from './key-file.ts';
import { ADMIN_ROLES } from './service-token.ts';
import type { SigningKeys } from './signing-keys.ts';

export const ACCESS_TOKEN_SECONDS = 3_600;
const SESSION_CHECK_MS = 30_000;
/** Bounds the memory that a flood of different tokens can take. */
const MAX_CACHED_TOKENS = 2_000;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export type AccessClaims = {
  /** The user's id; empty for a token without a user. */
  sub: string;
  role: string;
  sessionId: string | null;
  /** Unix seconds; Infinity for a service token without an end. */
  exp: number;
  aal: string;
  /** The claims that policies may read, as JSON text for `request.jwt.claims`. */
  json: string;
};

export type AccessTokenErrorReason =
  | 'malformed'
  | 'bad_signature'
  | 'expired'
  | 'not_yet_valid'
  | 'session_ended'
  /** The session has passed one step, and its user has a verified second factor (docs/specification/api.md 31). */
  | 'second_step_missing';

export class AccessTokenError extends Error {
  readonly reason: AccessTokenErrorReason;

  constructor(reason: AccessTokenErrorReason, message: string) {
    super(message);
    this.name = 'AccessTokenError';
    this.reason = reason;
  }
}

/** The input of the claims of a new token. */
type Subject = {
  userId: string;
  email: string;
  phone: string;
  aud: string;
  role: string;
  appMetadata: JsonObject;
  userMetadata: JsonObject;
  isAnonymous: boolean;
  sessionId: string;
  aal: string;
  amr: AuthenticationMethod[];
};

/** Cached until the token or its key ends, or the keys change. */
type VerifiedToken = { claims: AccessClaims; keysVersion: number; keyEndsAtMs: number };

export interface AccessTokens {
  /** `expiresAt` in Unix seconds. */
  issue(subject: Subject): Promise<{ accessToken: string; expiresAt: number }>;
  /** Checks signature, expiry and format. Throws an AccessTokenError. */
  readClaims(token: string): Promise<AccessClaims>;
  /**
   * As `readClaims`, and checks that the session still exists, that its user is not banned, and that it has passed the
   * second step if its user has a verified factor. Throws an AccessTokenError.
   */
  verify(token: string, options?: VerifyOptions): Promise<AccessClaims>;
  /** Call after deleting or changing the rows of sessions: drops their cached checks in this process. */
  invalidateSessions(sessionIds: readonly string[]): void;
}

type AccessTokenDeps = { keys: SigningKeys; issuer: string; clock: Clock; database: Database };

export function createAccessTokens({ keys, issuer, clock, database }: AccessTokenDeps): AccessTokens {
  const verifiedTokens = new LRUCache<string, VerifiedToken>({ max: MAX_CACHED_TOKENS });
  const sessionCheckedAt = new LRUCache<string, number>({ max: MAX_CACHED_TOKENS });
  let invalidations = 0;

  async function readClaims(token: string): Promise<AccessClaims> {
    const refreshing = keys.refresh();
    if (refreshing !== null) await refreshing;
    const now = clock.now();
    const cached = verifiedTokens.get(token);
    if (cached && cached.keysVersion === keys.version && now.getTime() < cached.keyEndsAtMs) {
      if (cached.claims.exp * 1000 > now.getTime()) return cached.claims;
      verifiedTokens.delete(token);
      throw new AccessTokenError('expired', 'token has invalid claims: token is expired');
    }
    const verified = await verifySignature(token, keys, now);
    verifiedTokens.set(token, verified);
    return verified.claims;
  }

  /** Throws an AccessTokenError if the session has ended, lacks the second step, or its user is banned. */
  async function checkSession(sessionId: string, userId: string, isFresh: boolean): Promise<void> {
    const now = clock.now().getTime();
    const checkedAt = isFresh ? undefined : sessionCheckedAt.get(sessionId);
    if (checkedAt !== undefined && now - checkedAt < SESSION_CHECK_MS) return;
    const invalidationsBefore = invalidations;
    const [session] = await database.asService('check a session').run(
      queryBuilder
        .selectFrom('auth.sessions as session')
        .innerJoin('auth.users as user', 'user.id', 'session.user_id')
        .select((row) => [
          'session.aal',
          row
            .exists(
              row
                .selectFrom('auth.mfa_factors as factor')
                .select('factor.id')
                .whereRef('factor.user_id', '=', 'user.id')
                .where('factor.status', '=', 'verified'),
            )
            .as('has_factor'),
        ])
        .where('session.id', '=', sessionId)
        .where('user.id', '=', userId)
        .where((row) => row.or([row('banned_until', 'is', null), row('banned_until', '<=', clock.now())])),
    );
    if (!session) {
      throw new AccessTokenError('session_ended', 'Session from session_id claim in JWT does not exist');
    }
    // Threat: a stolen password alone would open the journal of a user with a second factor.
    if (session.aal === 'aal1' && session.has_factor) {
      throw new AccessTokenError('second_step_missing', 'AAL2 session is required');
    }
    // A sign-out may have happened during this query; the query's result is then used once and not cached.
    if (invalidations === invalidationsBefore) sessionCheckedAt.set(sessionId, now);
  }

  return {
    async issue(subject) {
      const claims = buildClaims(subject, issuer, Math.floor(clock.now().getTime() / 1000));
      return { accessToken: await keys.sign(claims), expiresAt: claims.exp };
    },
    readClaims,
    async verify(token, { isFresh = false } = {}) {
      const claims = await readClaims(token);
      if (claims.sub !== '' && !UUID.test(claims.sub))
        throw new AccessTokenError('malformed', 'sub claim must be a UUID');
      if (claims.sessionId !== null) await checkSession(claims.sessionId, claims.sub, isFresh);
      return claims;
    },
    invalidateSessions(sessionIds) {
      invalidations += 1;
      for (const sessionId of sessionIds) sessionCheckedAt.delete(sessionId);
    },
  };
}

function buildClaims(subject: Subject, issuer: string, now: number) {
  return {
    iss: issuer,
    sub: subject.userId,
    aud: subject.aud,
    iat: now,
    exp: now + ACCESS_TOKEN_SECONDS,
    email: subject.email,
    phone: subject.phone,
    app_metadata: subject.appMetadata,
    user_metadata: subject.userMetadata,
    role: subject.role,
    aal: subject.aal,
    amr: subject.amr,
    session_id: subject.sessionId,
    is_anonymous: subject.isAnonymous,
  };
}

/**
 * Threat: algorithm confusion. The key's own algorithm must be the token's: a token cannot choose `none`, or HMAC with
 * the public key.
 */
async function verifySignature(token: string, keys: SigningKeys, now: Date): Promise<VerifiedToken> {
  try {
    const keysVersion = keys.version;
    let keyEndsAtMs = 0;
    const findKey: JWTVerifyGetKey = async (header) => {
      const key = await keys.find(header);
      if (!key) throw new AccessTokenError('bad_signature', 'unrecognized JWT kid');
      if (header.alg !== key.algorithm) throw new AccessTokenError('bad_signature', 'signing method is invalid');
      keyEndsAtMs = key.endsAtMs;
      return key.publicKey;
    };
    const { payload } = await jwtVerify(token, findKey, { algorithms: [...ALGORITHMS], currentDate: now });
    const sessionId = payload['session_id'] ?? null;
    if (sessionId !== null && (typeof sessionId !== 'string' || !UUID.test(sessionId))) {
      throw new AccessTokenError('malformed', 'session_id claim must be a UUID');
    }
    const claims = {
      sub: payload.sub ?? '',
      role: typeof payload['role'] === 'string' ? payload['role'] : '',
      sessionId: sessionId === NIL_UUID ? null : sessionId,
      exp: payload.exp ?? Infinity,
      aal: typeof payload['aal'] === 'string' ? payload['aal'] : 'aal1',
      json: policyClaimsJson(payload),
    };
    if (payload.exp === undefined && !isServiceToken(claims))
      throw new AccessTokenError('malformed', 'token has invalid claims: exp claim is required');
    return { claims, keysVersion, keyEndsAtMs };
  } catch (error) {
    throw toAccessTokenError(error);
  }
}

/** Only the operator signs such a token. Without `exp` it is valid as long as its key. */
const isServiceToken = ({ role, sub, sessionId }: AccessClaims): boolean =>
  ADMIN_ROLES.has(role) && sub === '' && sessionId === null;

/**
 * Keeps only the claims that policies may read: PostgreSQL parses this text for every statement, and the user's own
 * metadata can make a whole token thousands of characters long.
 */
function policyClaimsJson({ sub, role, aal, session_id, is_anonymous }: JWTPayload): string {
  return JSON.stringify({ sub, role, aal, session_id, is_anonymous });
}

function toAccessTokenError(error: unknown): AccessTokenError {
  if (error instanceof AccessTokenError) return error;
  if (error instanceof errors.JWTExpired) {
    return new AccessTokenError('expired', 'token has invalid claims: token is expired');
  }
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf') {
    return new AccessTokenError('not_yet_valid', 'token has invalid claims: token is not valid yet');
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new AccessTokenError('bad_signature', 'signature is invalid');
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new AccessTokenError('bad_signature', 'signing method is invalid');
  }
  return new AccessTokenError('malformed', 'token is malformed');
}
