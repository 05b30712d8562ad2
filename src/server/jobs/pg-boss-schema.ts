/**
 * Makes the schema `pgboss`, or brings it up to date: pg-boss has migrations of its own. As the owner of the tables, on
 * a connection that ends with it; from then on the service works with the tables and can change none of them.
 */
import { PgBoss } from 'pg-boss';
import type { Database } from '../database/database.ts';
import { JOBS_SCHEMA } from './pg-boss-adapter.ts';

/**
 * Any number but that of the migrations. pg-boss lets two servers make the schema at once and forgives the slower one,
 * whose connection it leaves in a transaction that has failed; so here one waits for the other.
 */
const LOCK_KEY = 4_871_203_945;

const GRANT = `
  grant usage on schema ${JOBS_SCHEMA} to service_role;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to service_role;
  grant execute on all functions in schema ${JOBS_SCHEMA} to service_role`;

export function installPgBossSchema(database: Database): Promise<void> {
  return database.asOwner('the tables of the jobs', async (owner) => {
    // The lock belongs to the session and ends with it.
    await owner.query('select pg_advisory_lock($1)', [LOCK_KEY]);
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
