/**
 * How often one network address may ask (docs/specification/accounts.md 9), and how often one account's password may be tried. The
 * counters live in the database.
 */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '#server/config/config.ts';
import type { AsService, Database } from '#server/database/database.ts';
import { networkPrefix } from '#server/http/requests/client-address.ts';
import { AuthError } from './wire/errors.ts';

const FIVE_MINUTES = 300;

const BUCKETS = {
  signup: 30,
  recover: 30,
  resend: 30,
  user: 30,
  verify: 30,
  reauthenticate: 30,
  token: 150,
} as const;

type Bucket = keyof typeof BUCKETS;

/**
 * Wrong passwords for one account, from all addresses together. Ten guesses in a quarter of an hour, then fifty in a day:
 * an owner who mistypes waits minutes, and somebody with a thousand addresses gets no further than with one.
 */
const SIGN_IN_WINDOWS = [
  { keyPrefix: 'sign-in', points: 10, duration: 900 },
  { keyPrefix: 'sign-in-day', points: 50, duration: 86_400 },
] as const;

export interface RateLimits {
  /** Throws `over_request_rate_limit`. */
  consume(bucket: Bucket, ip: string): Promise<void>;
  /**
   * Counts a try before its password is compared, so that many at once are no more guesses than one by one.
   * @param account from `signInKey`
   * @returns what takes the try back: it was no wrong guess
   */
  consumeSignIn(account: string): Promise<() => Promise<void>>;
}

type RateLimitDeps = { config: Pick<Config, 'auth'>; database: Database };

export function createRateLimits({ config, database }: RateLimitDeps): RateLimits {
  if (!config.auth.rateLimits) return { consume: async () => {}, consumeSignIn: async () => async () => {} };
  const store = {
    storeClient: toPgClient(database.asService('rate limits')),
    storeType: 'client',
    schemaName: 'auth',
    tableName: 'rate_limits',
    tableCreated: true,
  };
  const signInLimiters = SIGN_IN_WINDOWS.map(
    (window) => new RateLimiterPostgres({ ...store, ...window, clearExpiredByTimeout: false }),
  );
  const limiters = new Map(
    Object.entries(BUCKETS).map(([bucket, points]) => {
      const options = {
        ...store,
        keyPrefix: bucket,
        points,
        duration: FIVE_MINUTES,
        // One of them is enough to sweep the common table.
        clearExpiredByTimeout: bucket === 'token',
        // Whoever has used up a bucket costs no further statement until it is full again.
        inMemoryBlockOnConsumed: points,
      };
      return [bucket, new RateLimiterPostgres(options)];
    }),
  );
  return {
    consume: (bucket, ip) => consumeOr429(limiters.get(bucket)!, networkPrefix(ip)),
    async consumeSignIn(account) {
      for (const limiter of signInLimiters) await consumeOr429(limiter, account);
      return async () => void (await Promise.all(signInLimiters.map((limiter) => limiter.reward(account))));
    },
  };
}

async function consumeOr429(limiter: RateLimiterPostgres, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw new AuthError('over_request_rate_limit', '', Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
  }
}

/** The limiter's view of a `pg` client: it builds its own SQL from the names above and passes values as parameters. */
const toPgClient = (service: AsService) => ({
  query: ({ text, values }: { text: string; values: unknown[] }) => service.statement(text, values),
});
