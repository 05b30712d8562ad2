/**
 * The identity of a running database, which differs for a copy and after a restart of PostgreSQL. With it
 * `npm run doctor` notices that PUBLIC_URL leads to a server of another database.
 */
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
