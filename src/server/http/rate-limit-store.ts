/** The counters of rate-limiter-flexible in `auth.rate_limits`: all processes of a database count together. */
import type { AsService, Database } from '#server/database/database.ts';

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
