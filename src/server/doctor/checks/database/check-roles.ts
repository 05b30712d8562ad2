/** Checks that the login for requests works, has no rights of its own and may act as the three roles. */
import pg from 'pg';
import { isLoginFailure } from '#server/database/database-error.ts';
import { PrivilegedLoginError, rejectPrivilegedLogin, requestConnection } from '#server/database/roles.ts';
import { fault, ok } from '../../check.ts';
import type { Finding } from '../../check.ts';
import { describeConnectFailure } from './describe-connect-failure.ts';

export async function checkRoles(ownerUrl: string, connectionTimeoutMillis: number): Promise<Finding[]> {
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
    if (isLoginFailure(code)) {
      return [
        fault(
          'the login for requests does not work',
          'Start the server once: it creates the login again from the password in DATABASE_URL.',
        ),
      ];
    }
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
