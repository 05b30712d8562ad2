/**
 * Privileges of the request roles on schemas: none on accounts, migrations and jobs, and row-level security everywhere.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { installPgBossSchema } from '#server/jobs/job-queue.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();
beforeAll(async () => {
  await installPgBossSchema(db.database);
});

const LOGIN = 'hustle_forge_requests';

async function readPrivileges(role: string, schema: string): Promise<string[]> {
  const { rows } = await db.admin.query<{ right: string }>(
    `select relname || '.' || attname || ' ' || privilege as right
       from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped,
            unnest(array['select', 'insert', 'update', 'references']) privilege
      where relnamespace = $2::regnamespace and relkind in ('r', 'p', 'v', 'm')
        and has_column_privilege($1, pg_class.oid, attnum, privilege)
      union all
     select relname || ' ' || privilege
       from pg_class, unnest(array['delete', 'truncate', 'trigger']) privilege
      where relnamespace = $2::regnamespace and relkind in ('r', 'p', 'v', 'm')
        and has_table_privilege($1, pg_class.oid, privilege)`,
    [role, schema],
  );
  return rows.map(({ right }) => right);
}

describe.each(['anon', 'authenticated', LOGIN])('role %s', (role) => {
  test.each(['auth', 'migrations', 'pgboss'])('has no privilege on any table of the schema %s', async (schema) => {
    expect(await readPrivileges(role, schema)).toEqual([]);
  });

  test('cannot create objects in any schema', async () => {
    const { rows } = await db.admin.query(
      "select nspname from pg_namespace where has_schema_privilege($1, oid, 'create') and nspname !~ '^pg_temp'",
      [role],
    );
    expect(rows).toEqual([]);
  });
});

test('only the service can use the schema of the jobs, and it cannot create objects there', async () => {
  const privileges = await readPrivileges('service_role', 'pgboss');
  expect(privileges).toEqual(expect.arrayContaining(['job.state update', 'job delete', 'schedule.cron insert']));
  const { rows } = await db.admin.query(
    `select role, has_schema_privilege(role, 'pgboss', 'usage') as sees, has_schema_privilege(role, 'pgboss', 'create') as makes
       from unnest(array['anon', 'authenticated', $1, 'service_role']) role`,
    [LOGIN],
  );
  expect(rows).toEqual([
    { role: 'anon', sees: false, makes: false },
    { role: 'authenticated', sees: false, makes: false },
    { role: LOGIN, sees: false, makes: false },
    { role: 'service_role', sees: true, makes: false },
  ]);
});

test('the request login has no privilege of its own and can only switch to the three request roles', async () => {
  expect(await readPrivileges(LOGIN, 'public')).toEqual([]);
  const { rows } = await db.admin.query(
    `select rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls,
            (select json_agg(roleid::regrole::text order by 1) from pg_auth_members where member = pg_roles.oid) as of
       from pg_roles where rolname = $1`,
    [LOGIN],
  );
  const none = { rolsuper: false, rolinherit: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false };
  expect(rows).toMatchObject([{ ...none, rolbypassrls: false, rolcanlogin: true }]);
  expect(new Set(rows[0].of)).toEqual(new Set(['anon', 'authenticated', 'service_role']));
});

test('every table of the public schema has forced row-level security', async () => {
  const { rows } = await db.admin.query(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not (relrowsecurity and relforcerowsecurity)`,
  );
  expect(rows).toEqual([]);
});

test('row-level security hides the signing keys even from the owner of their table', async () => {
  const { rows } = await db.admin.query(
    `select relrowsecurity, relforcerowsecurity, (select count(*) from pg_policy where polrelid = pg_class.oid) as policies
       from pg_class where oid = 'auth.signing_keys'::regclass`,
  );
  expect(rows).toEqual([{ relrowsecurity: true, relforcerowsecurity: true, policies: 0 }]);
});

test("only five triggers, two facts of reviews, the erasures and purges of ledgers, and the view entry_dates run with their owner's privileges", async () => {
  const { rows } = await db.admin.query(
    `select proname || ' returns ' || prorettype::regtype as name from pg_proc where prosecdef and pronamespace::regnamespace::text in ('public', 'auth')
      union all
     select relname from pg_class where relkind in ('v', 'm') and relnamespace::regnamespace::text in ('public', 'auth')
        and not coalesce(reloptions @> array['security_invoker=true'], false)
      order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([
    'entry_dates',
    'erase_audit_log returns void',
    'erase_payer returns uuid',
    'follow_entry returns trigger',
    'forget_review returns trigger',
    'have_logs_changed returns boolean',
    'make_profile returns trigger',
    'newest_review returns uuid',
    'plan_reminders_again returns trigger',
    'purge_audit_log returns integer',
    'thin_analyses returns trigger',
  ]);
});
