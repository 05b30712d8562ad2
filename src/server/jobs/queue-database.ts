/** How pg-boss reaches its own schema `pgboss`: as the service, through the server's pool. */
import type { Db } from 'pg-boss';
import type { Database } from '../database/database.ts';

export const JOBS_SCHEMA = 'pgboss';

/** A text of several statements. pg-boss writes these as one transaction of its own. */
const TRANSACTION = /^\s*BEGIN;(?<statements>[^]*?)COMMIT;?\s*$/;

export function queueDatabase(database: Database): Db {
  const service = database.asService('jobs');
  return {
    async executeSql(text, values = []) {
      const { statements } = TRANSACTION.exec(text)?.groups ?? {};
      if (statements === undefined) return service.statement(text, values);
      return database.transactAsService('jobs', (transaction) => transaction.statement(statements, []));
    },
  };
}
