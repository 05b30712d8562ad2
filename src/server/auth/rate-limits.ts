/**
 * Rate limits per network address (docs/specification/accounts.md 9) and per account for passwords. The counters are stored
 * in the database.
 */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '#server/config/config.ts';
import type { AsService, Database } from '#server/database/database.ts';
import { networkPrefix } from '#server/http/requests/client-address.ts';
import { AuthError } from './wire/errors.ts';

const FIVE_MINUTES = 300;
const HOUR = 3_600;

/** `points` requests of one network address in `duration` seconds. */
const BUCKETS = {
  signup: { points: 30, duration: FIVE_MINUTES },
  anonymous: { points: 30, duration: HOUR },
  otp: { points: 30, duration: FIVE_MINUTES },
  magiclink: { points: 30, duration: FIVE_MINUTES },
  recover: { points: 30, duration: FIVE_MINUTES },
  resend: { points: 30, duration: FIVE_MINUTES },
  user: { points: 30, duration: FIVE_MINUTES },
  verify: { points: 30, duration: FIVE_MINUTES },
  reauthenticate: { points: 30, duration: FIVE_MINUTES },
  token: { points: 150, duration: FIVE_MINUTES },
  web3: { points: 30, duration: FIVE_MINUTES },
  web3_nonce: { points: 30, duration: FIVE_MINUTES },
  oauth: { points: 60, duration: FIVE_MINUTES },
} as const;

type Bucket = keyof typeof BUCKETS;

/**
 * Wrong passwords per key of `signInKey` (an account, or one known device of it), from all network addresses together:
 * ten in 15 minutes and fifty in a day. An owner who mistypes waits minutes, and an attacker with a thousand network
 * addresses gets no further than with one.
 */
const SIGN_IN_WINDOWS = [
  { keyPrefix: 'sign-in', points: 10, duration: 900 },
  { keyPrefix: 'sign-in-day', points: 50, duration: 86_400 },
] as const;

export interface RateLimits {
  /** Counts a request of the network address. Throws `over_request_rate_limit` once its bucket is exhausted. */
  consume(bucket: Bucket, ip: string): Promise<void>;
  /**
   * Counts an attempt before its password is compared, so that concurrent attempts gain no guesses.
   * @param account from `signInKey`
   * @returns a function that refunds the attempt, for attempts that were not wrong guesses
   */
  consumeSignIn(account: string): Promise<() => Promise<void>>;
}

type RateLimitDeps = { config: Pick<Config, 'auth'>; database: Database };

export function createRateLimits({ config, database }: RateLimitDeps): RateLimits {
  if (!config.auth.rateLimits) return { consume: async () => {}, consumeSignIn: async () => async () => {} };
  const store = {
    storeClient: toPgClient(database.asService('count requests')),
    storeType: 'client',
    schemaName: 'auth',
    tableName: 'rate_limits',
    tableCreated: true,
  };
  const signInLimiters = SIGN_IN_WINDOWS.map(
    (window) => new RateLimiterPostgres({ ...store, ...window, clearExpiredByTimeout: false }),
  );
  const limiters = new Map(
    Object.entries(BUCKETS).map(([bucket, { points, duration }]) => {
      const options = {
        ...store,
        keyPrefix: bucket,
        points,
        duration,
        // One limiter is enough to purge the shared table.
        clearExpiredByTimeout: bucket === 'token',
        // A blocked client costs no further statement until its bucket refills.
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
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw new AuthError('over_request_rate_limit', '', Math.max(1, Math.ceil(error.msBeforeNext / 1000)));
  }
}

/** Adapts the database to a `pg` client. The limiter builds its SQL from the names above and passes values as parameters. */
const toPgClient = (service: AsService) => ({
  query: ({ text, values }: { text: string; values: unknown[] }) => service.statement(text, values),
});
