/**
 * Creates or migrates the schema `pgboss` as the table owner, on a connection of its own. Afterwards the service role
 * can use the tables but not alter them.
 */
import { PgBoss } from 'pg-boss';
import type { Database } from '../database/database.ts';
import { JOBS_SCHEMA } from './pg-boss-adapter.ts';

/**
 * The key of an advisory lock: arbitrary, but not the migrations' key. Without this lock, two servers create the schema
 * concurrently, and pg-boss leaves the slower server's connection in a failed transaction.
 */
const LOCK_KEY = 4_871_203_945;

const GRANT = `
  grant usage on schema ${JOBS_SCHEMA} to service_role;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to service_role;
  grant execute on all functions in schema ${JOBS_SCHEMA} to service_role`;

export function installPgBossSchema(database: Database): Promise<void> {
  return database.asOwner('the tables of the jobs', async (owner) => {
    // Ending the session releases the advisory lock.
    await owner.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    const boss = new PgBoss({
      db: { executeSql: (text, values) => owner.query(text, values) },
      schema: JOBS_SCHEMA,
      supervise: false,
      schedule: false,
    });
    // Without a listener, an error event would end the process; relevant errors reject `start`.
    boss.on('error', () => undefined);
    try {
      await boss.start();
    } finally {
      await boss.stop({ graceful: false });
    }
    await owner.query(GRANT);
  });
}
