/** How often one network address may ask (wire-contract 0.7). The counters live in the database. */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { AsService } from '#server/database/database.ts';
import type { AuthDeps } from './auth-deps.ts';
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

export interface RateLimits {
  /** Throws `over_request_rate_limit`. */
  consume(bucket: Bucket, ip: string): Promise<void>;
}

export function createRateLimits({ config, database }: Pick<AuthDeps, 'config' | 'database'>): RateLimits {
  if (!config.auth.rateLimits) return { consume: async () => {} };
  const storeClient = clientFor(database.asService('rate limits'));
  const limiters = new Map(
    Object.entries(BUCKETS).map(([bucket, points]) => {
      const options = {
        storeClient,
        storeType: 'client',
        schemaName: 'auth',
        tableName: 'rate_limits',
        tableCreated: true,
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
    async consume(bucket, ip) {
      try {
        await limiters.get(bucket)!.consume(networkOf(ip));
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) throw new AuthError('over_request_rate_limit');
        throw refusal;
      }
    },
  };
}

/** The limiter's view of a `pg` client: it builds its own SQL from the names above and passes values as parameters. */
const clientFor = (service: AsService) => ({
  query: ({ text, values }: { text: string; values: unknown[] }) => service.statement(text, values),
});

/** One customer of an IPv6 network holds a whole /64, so single addresses would be no limit at all. */
function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip.slice(0, 64);
  const [head = '', tail] = ip.split('%')[0]!.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':').slice(0, 64);
}
