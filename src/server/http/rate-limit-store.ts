/** Stores the counters of rate-limiter-flexible in `auth.rate_limits`, which all processes of a database share. */
import { createRequire } from 'node:module';
import type * as Limiters from 'rate-limiter-flexible';
import type { AsService, Database } from '#server/database/database.ts';

const requireModule = createRequire(import.meta.url);
/** Loads one store by its path: the index of the package loads every store that it supports. */
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
  /** Milliseconds for which this process still refuses the key; 0 if it does not. Runs no statement. */
  blockedMs(key: string): Promise<number>;
};

/**
 * Limits a key to `points` requests a minute with few statements, for checks that run often. Each process counts in
 * memory, and adds its requests to the shared count in the database `step` at a time. So all processes together exceed
 * the limit by at most `step` requests each.
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
