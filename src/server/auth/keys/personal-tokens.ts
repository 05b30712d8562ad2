/**
 * Personal access tokens: `hforge_` and 48 bytes in base64url, of which 16 are the user's id and 32 are random. With
 * the id, the look-up works on a table that is divided by user. It is no secret: the access token of a session has it
 * too. Only the hash is stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { TOKEN_PREFIX, type TokenScope } from '#domain/account/access-token.ts';
import type { Clock } from '#server/clock.ts';
import type { Database, Identity } from '#server/database/database.ts';
import { RateLimiterRes, createMinuteLimit } from '#server/http/rate-limit-store.ts';
import { identifyUser } from '#server/load/request-context.ts';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[A-Za-z0-9_-]{64}$`);

export const isPersonalToken = (bearer: string): boolean => bearer.startsWith(TOKEN_PREFIX);

export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export function makeToken(userId: string): string {
  const id = Buffer.from(userId.replaceAll('-', ''), 'hex');
  return TOKEN_PREFIX + Buffer.concat([id, randomBytes(SECRET_BYTES)]).toString('base64url');
}

/** The user id in a token that nobody has verified yet; null for a malformed token, such as a truncated one. */
export function tokenOwner(token: string): string | null {
  if (!TOKEN.test(token)) return null;
  const hex = Buffer.from(token.slice(TOKEN_PREFIX.length), 'base64url').subarray(0, ID_BYTES).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A request with a valid token. The claims hold its scopes, so the database knows them too (`public.token_scopes`). */
export type TokenCaller = { readonly userId: string; readonly identity: Identity; readonly timeZone: string | null };

export class PersonalTokenError extends Error {
  override name = 'PersonalTokenError';
  readonly reason: 'invalid' | 'scope' | 'rate_limited';
  readonly retryAfterSeconds: number | null;

  constructor(reason: PersonalTokenError['reason'], message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const INVALID = 'This access token is unknown, has expired or was revoked. Make a new one in Settings';

/** As for the check of a session: other processes accept a token that has ended until this time is over. */
const CHECK_MS = 30_000;
const MAX_CACHED = 2_000;
const LAST_USE_MS = 3_600_000;
/** Uses per minute: of one token, of all tokens of a user, and of unknown tokens by one network address. */
const LIMITS = {
  token: { keyPrefix: 'access-token', points: 120, step: 10 },
  user: { keyPrefix: 'access-token-user', points: 240, step: 20 },
  invalid: { keyPrefix: 'access-token-unknown', points: 30, step: 5 },
} as const;

const FIND = `
  select token.id, token.scopes, token.time_zone as "timeZone", token.expires_at as "expiresAt",
         token.last_used_at as "lastUsedAt"
    from public.access_tokens as token join auth.users as account on account.id = token.user_id
   where token.user_id = $1 and token.token_hash = $2 and token.expires_at > $3
     and (account.banned_until is null or account.banned_until <= $3)`;

type Known = { id: string; scopes: TokenScope[]; timeZone: string | null; expiresAt: Date; lastUsedAt: Date | null };

export type PersonalTokens = {
  /**
   * @param address the network of the caller
   * @throws PersonalTokenError
   */
  verify(token: string, scope: TokenScope, address: string): Promise<TokenCaller>;
  /** Counts nothing. @throws PersonalTokenError if a token that was verified has ended since */
  verifyAgain(token: string): Promise<void>;
  /** Call after a token or a session has ended: drops the cached checks of this process. */
  invalidate(): void;
};

type Deps = { database: Database; clock: Clock; config: { auth: { rateLimits: boolean } } };

export function createPersonalTokens({ database, clock, config }: Deps): PersonalTokens {
  const checked = new LRUCache<string, { known: Known; at: number }>({ max: MAX_CACHED });
  const limitOf = (kind: keyof typeof LIMITS) =>
    config.auth.rateLimits ? createMinuteLimit(database, LIMITS[kind]) : null;
  const limits = { token: limitOf('token'), user: limitOf('user'), invalid: limitOf('invalid') };
  let generation = 0;

  async function consume(kind: keyof typeof LIMITS, key: string): Promise<void> {
    try {
      await limits[kind]?.consume(key);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      const seconds = Math.max(1, Math.ceil(rejection.msBeforeNext / 1_000));
      throw new PersonalTokenError('rate_limited', 'Too many requests. Please try again in a minute', seconds);
    }
  }

  /** Counts the failure. Threat: guesses, or a program with an old token in a loop, cost a statement each. */
  async function refuse(address: string): Promise<never> {
    await consume('invalid', address);
    throw new PersonalTokenError('invalid', INVALID);
  }

  async function find(userId: string, hash: Buffer): Promise<Known | null> {
    const key = hash.toString('base64url');
    const now = clock.now();
    const cached = checked.get(key);
    if (cached && now.getTime() - cached.at < CHECK_MS && cached.known.expiresAt > now) return cached.known;
    checked.delete(key);
    const before = generation;
    const service = database.asService('check an access token');
    const { rows } = await service.statement<Known>(FIND, [userId, hash, now]);
    const [known] = rows;
    if (!known) return null;
    if (known.lastUsedAt === null || now.getTime() - known.lastUsedAt.getTime() >= LAST_USE_MS) {
      await service.statement('update public.access_tokens set last_used_at = $3 where user_id = $1 and id = $2', [
        userId,
        known.id,
        now,
      ]);
    }
    // A token may have been revoked during the query; its result is then used once and not cached.
    if (before === generation) checked.set(key, { known, at: now.getTime() });
    return known;
  }

  return {
    async verify(token, scope, address) {
      if (((await limits.invalid?.blockedMs(address)) ?? 0) > 0) await refuse(address);
      const userId = tokenOwner(token);
      const known = userId === null ? null : await find(userId, hashOf(token));
      if (userId === null || known === null) return refuse(address);
      identifyUser(userId);
      await consume('token', known.id);
      await consume('user', userId);
      if (!known.scopes.includes(scope))
        throw new PersonalTokenError('scope', `This access token lacks the scope ${scope}`);
      const claims = { sub: userId, role: 'authenticated', scopes: known.scopes.join(' ') };
      return {
        userId,
        identity: { role: 'authenticated', claimsJson: JSON.stringify(claims) },
        timeZone: known.timeZone,
      };
    },
    async verifyAgain(token) {
      const userId = tokenOwner(token);
      if (userId === null || (await find(userId, hashOf(token))) === null)
        throw new PersonalTokenError('invalid', INVALID);
    },
    invalidate() {
      generation += 1;
      checked.clear();
    },
  };
}
