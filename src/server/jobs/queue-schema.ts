/**
 * Makes the schema `pgboss`, or brings it up to date: pg-boss has migrations of its own. As the owner of the tables, on
 * a connection that ends with it; from then on the service works with the tables and can change none of them.
 */
import { PgBoss } from 'pg-boss';
import type { Database } from '../database/database.ts';
import { JOBS_SCHEMA } from './queue-database.ts';

/** Any number but that of the migrations: two servers that start together may not grant at the same moment. */
const LOCK_KEY = 4_871_203_945;

const GRANT = `
  begin;
  select pg_advisory_xact_lock(${LOCK_KEY});
  grant usage on schema ${JOBS_SCHEMA} to service_role;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to service_role;
  grant execute on all functions in schema ${JOBS_SCHEMA} to service_role;
  commit`;

export function installQueueSchema(database: Database): Promise<void> {
  return database.asOwner('the tables of the jobs', async (owner) => {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => owner.query(text, values) },
      schema: JOBS_SCHEMA,
      supervise: false,
      schedule: false,
    });
    // Without a listener an error would end the process; those that matter reject the start.
    boss.on('error', () => undefined);
    try {
      await boss.start();
    } finally {
      await boss.stop({ graceful: false });
    }
    await owner.query(GRANT);
  });
}
