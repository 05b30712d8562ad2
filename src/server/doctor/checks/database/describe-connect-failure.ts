/** Describes why no connection to the database opens, by an SQLSTATE or an error code of the system, with its fix. */
import { NoPrimaryError } from '#server/database/connection/primary-finder.ts';
import { isLoginFailure } from '#server/database/database-error.ts';
import { fault, reasonOf, type Finding } from '../../check.ts';
import { describeFailure } from '../../request.ts';

export function describeConnectFailure(error: unknown): Finding {
  const { code } = error as { code?: string };
  const reason = reasonOf(error);
  if (error instanceof NoPrimaryError)
    return fault(
      reason,
      'Promote a standby, or wait for the failover; check the hosts, the user and the password in DATABASE_URL.',
    );
  if (isLoginFailure(code)) {
    return fault(
      `the database refuses the login: ${reason}`,
      'Check user and password in DATABASE_URL, and pg_hba.conf on the database.',
    );
  }
  if (code === '3D000')
    return fault(reason, 'Create it: create database NAME owner USER (docs/operations.md, "The database").');
  if (code === '53300')
    return fault(
      'the database has no connection left',
      'Raise max_connections or the connection limit of the role, or lower WEB_CONCURRENCY.',
    );
  if (code === '57P03') return fault(reason, 'It starts or stops at this moment: try again in a minute.');
  if (reason.includes('does not support SSL')) {
    return fault(reason, 'Turn ssl on at the database server, or take sslmode out of DATABASE_URL.');
  }
  const { problem } = describeFailure(error);
  return fault(
    `the database cannot be reached: ${problem}`,
    'Check host and port in DATABASE_URL, and whether PostgreSQL runs.',
  );
}
