/** Lets pg-boss use its schema `pgboss` through the server's pool, as the service role. */
import type { Db } from 'pg-boss';
import type { Database, Result } from '../database/database.ts';

export const JOBS_SCHEMA = 'pgboss';

/** A multi-statement text, which pg-boss wraps in BEGIN and COMMIT. */
const TRANSACTION = /^\s*BEGIN;(?<statements>[^]*?)COMMIT;?\s*$/;

/**
 * Serialises statements: all queues poll at the same moment, and an idle server should not open a connection for each.
 */
export function pgBossDatabase(database: Database): Db {
  const service = database.asService('run jobs');
  let last: Promise<unknown> = Promise.resolve();

  function execute(text: string, values: readonly unknown[]): Promise<Result<unknown>> {
    const { statements } = TRANSACTION.exec(text)?.groups ?? {};
    if (statements === undefined) return service.statement(text, values);
    return database.transactAsService('jobs', (transaction) => transaction.statement(statements, []));
  }

  return {
    executeSql(text, values = []) {
      const answer = last.then(() => execute(text, values));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}
