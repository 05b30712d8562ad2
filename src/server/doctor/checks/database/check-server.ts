/** Checks that the database server is recent enough and accepts writes. */
import type pg from 'pg';
import { formatBytes } from '#server/backup/command-line.ts';
import { MIN_SERVER_VERSION } from '#server/database/migrations/migrate.ts';
import { fault, ok, type Finding } from '../../check.ts';

/** `number`: as in `server_version_num`. `size` in bytes. */
type Server = { version: string; number: number; isStandby: boolean; isReadOnly: boolean; size: number };

/** @param name how the findings name the server */
export async function checkServer(owner: pg.Client, name: string): Promise<Finding[]> {
  const startedAt = performance.now();
  const { rows } = await owner.query<Server>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            pg_is_in_recovery() as "isStandby", pg_database_size(current_database())::float8 as size,
            current_setting('default_transaction_read_only') = 'on' as "isReadOnly"`,
  );
  const ms = Math.round(performance.now() - startedAt);
  const { version, number, isStandby, isReadOnly, size } = rows[0]!;
  const server = `${name} ${version}`;
  if (number < MIN_SERVER_VERSION) {
    return [fault(`${server} is too old`, 'Upgrade the database server to 15 or newer.')];
  }
  if (isStandby) {
    return [
      fault(`${server} is a standby that only reads`, 'Name the primary in DATABASE_URL, or promote this server.'),
    ];
  }
  if (isReadOnly) {
    return [
      fault(
        `${server} only reads (default_transaction_read_only)`,
        'Reset default_transaction_read_only where it is set: postgresql.conf, the database or its user.',
      ),
    ];
  }
  return [ok(`${server} answers in ${ms} ms and holds ${formatBytes(size)}`)];
}
