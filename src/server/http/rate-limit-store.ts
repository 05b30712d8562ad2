/** The counters of rate-limiter-flexible in `auth.rate_limits`: all processes of a database count together. */
import { createRequire } from 'node:module';
import type * as Limiters from 'rate-limiter-flexible';
import type { AsService, Database } from '#server/database/database.ts';

const requireModule = createRequire(import.meta.url);
/** Imports one store by its path: the package's index loads twenty other stores, 1 MB of code. */
const load = <Name extends keyof typeof Limiters>(name: Name) =>
  requireModule(`rate-limiter-flexible/lib/${name}.js`) as (typeof Limiters)[Name];
export const RateLimiterMemory = load('RateLimiterMemory');
export const RateLimiterPostgres = load('RateLimiterPostgres');
export type RateLimiterPostgres = Limiters.RateLimiterPostgres;
export const RateLimiterRes = load('RateLimiterRes');
export type RateLimiterRes = Limiters.RateLimiterRes;

/** The options of `RateLimiterPostgres` that say where it counts. */
export const rateLimitStore = (database: Pick<Database, 'asService'>) => ({
  storeClient: toPgClient(database.asService('count requests')),
  storeType: 'client',
  schemaName: 'auth',
  tableName: 'rate_limits',
  tableCreated: true,
  // A job deletes expired counters (`jobs/purges.ts`).
  clearExpiredByTimeout: false,
});

/** The limiter builds its SQL from the names above and passes values as parameters. */
const toPgClient = (service: AsService) => ({
  query: ({ text, values }: { text: string; values: unknown[] }) => service.statement(text, values),
});

/** Counts a request. False once the limit of the key is exceeded. Rejects if the database cannot be asked. */
export async function isWithinLimit(
  limiter: { consume(key: string): Promise<unknown> },
  key: string,
): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return false;
    throw rejection;
  }
}

export type MinuteLimit = {
  /** @throws RateLimiterRes */
  consume(key: string): Promise<void>;
  /** Milliseconds for which a key is refused; 0 if it is not. Costs no statement. */
  blockedMs(key: string): Promise<number>;
};

/**
 * `points` requests of a key in a minute, for what is asked for often: a process counts alone, and every `step`
 * requests it counts them in the database for all processes together, which then exceed the limit by a step each at
 * most.
 */
export function createMinuteLimit(
  database: Pick<Database, 'asService'>,
  { keyPrefix, points, step }: { keyPrefix: string; points: number; step: number },
): MinuteLimit {
  const window = { keyPrefix, duration: 60 };
  const local = new RateLimiterMemory({ ...window, points });
  const shared = new RateLimiterPostgres({ ...rateLimitStore(database), ...window, points: points / step });
  return {
    async consume(key) {
      const { consumedPoints } = await local.consume(key);
      if (consumedPoints % step !== 0) return;
      try {
        await shared.consume(key);
      } catch (rejection) {
        if (rejection instanceof RateLimiterRes) await local.block(key, Math.ceil(rejection.msBeforeNext / 1_000));
        throw rejection;
      }
    },
    async blockedMs(key) {
      const counted = await local.get(key);
      return counted !== null && counted.consumedPoints > points ? counted.msBeforeNext : 0;
    },
  };
}
