/** Tells one running database from every other, also from a copy. It changes when PostgreSQL restarts. */
import { createHash } from 'node:crypto';
import type { Statements } from '#server/database/database.ts';

export async function readDatabaseIdentity(service: Pick<Statements, 'statement'>): Promise<string> {
  const { rows } = await service.statement<{ identity: string }>(
    `select concat_ws(' ', oid, datname, pg_postmaster_start_time()) as identity
       from pg_catalog.pg_database where datname = current_database()`,
    [],
  );
  return createHash('sha256').update(rows[0]!.identity).digest('hex');
}
