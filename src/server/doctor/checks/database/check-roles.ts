/** Checks that the login for requests works, has no rights of its own and may act as the three roles. */
import pg from 'pg';
import { isLoginFailure } from '#server/database/database-error.ts';
import { PrivilegedLoginError, rejectPrivilegedLogin, requestConnection } from '#server/database/roles.ts';
import { fault, ok, warning, type Finding } from '../../check.ts';
import { describeConnectFailure } from './describe-connect-failure.ts';

export async function checkRoles(
  owner: pg.Client,
  ownerUrl: string,
  connectionTimeoutMillis: number,
): Promise<Finding[]> {
  const pool = new pg.Pool({ ...requestConnection(ownerUrl), max: 1, connectionTimeoutMillis });
  try {
    await rejectPrivilegedLogin(pool);
    const { rows } = await pool.query<{ missing: string | null }>(
      `select string_agg(wanted, ', ') as missing from unnest(array['anon', 'authenticated', 'service_role']) wanted
        where not coalesce((select pg_has_role(session_user, oid, 'member') from pg_catalog.pg_roles where rolname = wanted), false)`,
    );
    const { rows: bypasses } = await pool.query<{ bypasses: boolean }>(
      "select coalesce(bool_and(rolbypassrls), false) as bypasses from pg_catalog.pg_roles where rolname = 'service_role'",
    );
    const { missing } = rows[0]!;
    if (missing !== null) {
      return [
        fault(
          `the login for requests may not act as ${missing}`,
          'Start the server, which grants it, or grant it as a superuser.',
        ),
      ];
    }
    if (!bypasses[0]!.bypasses) {
      return [
        fault('service_role is subject to row-level security', 'As a superuser: alter role service_role bypassrls'),
      ];
    }
    return [ok('the login for requests has no rights of its own, and row-level security applies to it')];
  } catch (error) {
    const { code } = error as { code?: string };
    if (isLoginFailure(code)) return [await describeLogin(owner, ownerUrl)];
    if (!(error instanceof PrivilegedLoginError)) return [describeConnectFailure(error)];
    return [
      fault(
        error.message,
        'Take the rights from this role (alter role ... nosuperuser nobypassrls) or let the server make another.',
      ),
    ];
  } finally {
    await pool.end();
  }
}

/** Describes why the login for requests is refused. */
export async function describeLogin(owner: pg.Client, ownerUrl: string): Promise<Finding> {
  const { rows } = await owner.query<{ exists: boolean; mayCreate: boolean }>(
    `select exists (select from pg_catalog.pg_roles where rolname = $1) as exists,
            current_setting('server_version_num')::int >= 160000
              or exists (select from pg_catalog.pg_roles where rolname = 'service_role')
              or (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as "mayCreate"`,
    [requestConnection(ownerUrl).user],
  );
  const { exists, mayCreate } = rows[0]!;
  if (!mayCreate) {
    return fault(
      'service_role does not exist, and on PostgreSQL 15 only a superuser can create it',
      'As a superuser: create role service_role nologin noinherit bypassrls; then grant it to the user of DATABASE_URL with admin option.',
    );
  }
  if (!exists) return warning('the login for requests does not exist yet', 'The first start of the server makes it.');
  return fault(
    'the login for requests does not work',
    'Start the server once: it creates the login again from the password in DATABASE_URL.',
  );
}
