/** Checks that the limits of the database, its user and the server leave enough connections to all processes. */
import type pg from 'pg';
import type { Config } from '#server/config/config.ts';
import { POOL_SIZE } from '#server/database/connection/request-pool.ts';
import { requestConnection } from '#server/database/roles.ts';
import { ok, warning, type Finding } from '../../check.ts';

/** The listener for changes of each process. */
const LISTENERS = 1;
/** Migrations, an operator's command, a backup. */
const OTHER_CONNECTIONS = 6;

export async function checkConnections(
  owner: pg.Client,
  ownerUrl: string,
  { workers, databasePoolUrl }: Pick<Config, 'workers' | 'databasePoolUrl'>,
): Promise<Finding[]> {
  const { rows } = await owner.query<{ max: number; others: number; role: number; database: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              - coalesce(current_setting('reserved_connections', true), '0')::int as max,
            (select count(*)::int from pg_catalog.pg_stat_activity
              where backend_type = 'client backend' and datname is distinct from current_database()) as others,
            coalesce((select rolconnlimit from pg_catalog.pg_roles where rolname = $1), -1) as role,
            (select datconnlimit from pg_catalog.pg_database where datname = current_database()) as database`,
    [requestConnection(ownerUrl).user],
  );
  const { max, others, role, database } = rows[0]!;
  const isPooled = databasePoolUrl !== null;
  // A rolling restart starts each new worker before it stops the old one.
  const processes = workers === 1 ? 1 : workers + 1;
  const needed = processes * ((isPooled ? 0 : POOL_SIZE) + LISTENERS) + OTHER_CONNECTIONS;
  const limits = [
    { what: `max_connections leaves ${max - others} to this database`, limit: max - others },
    ...(role >= 0 ? [{ what: `the role for requests may have ${role} connections`, limit: role }] : []),
    ...(database >= 0 ? [{ what: `the database allows ${database} connections`, limit: database }] : []),
  ];
  const tight = limits.filter(({ limit }) => limit < needed);
  const subject = workers === 1 ? 'one process takes' : `${workers} processes take`;
  const sum = `${subject} up to ${needed} connections${isPooled ? ' beside those of the pooler' : ''}`;
  if (tight.length === 0) return [ok(`${sum}, and ${limits[0]!.what}`)];
  const fix = isPooled
    ? 'Raise the limit, or lower WEB_CONCURRENCY or the size of the pool in the pooler. Count every machine.'
    : 'Raise the limit, lower WEB_CONCURRENCY, or put a pooler in front (DATABASE_POOL_URL). Count every machine.';
  return tight.map(({ what }) => warning(`${sum}, but ${what}`, fix));
}
