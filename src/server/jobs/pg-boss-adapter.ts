/** How pg-boss reaches its own schema `pgboss`: as the service, through the server's pool. */
import type { Db } from 'pg-boss';
import type { Database, Result } from '../database/database.ts';

export const JOBS_SCHEMA = 'pgboss';

/** A text of several statements. pg-boss writes these as one transaction of its own. */
const TRANSACTION = /^\s*BEGIN;(?<statements>[^]*?)COMMIT;?\s*$/;

/**
 * One statement at a time: every queue looks for its jobs at the same moment, and each would open a connection for
 * that, which a server at rest should not hold.
 */
export function pgBossDatabase(database: Database): Db {
  const service = database.asService('jobs');
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
