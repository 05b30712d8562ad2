/** The rights that no request has: on the accounts, on the migrations, on the jobs, and on anything that comes later. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installPgBossSchema } from '#server/jobs/pg-boss-schema.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await installPgBossSchema(db.database);
});
afterAll(() => db.drop());

const LOGIN = 'hustle_forge_requests';

async function rightsOf(role: string, schema: string): Promise<string[]> {
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

describe.each(['anon', 'authenticated', LOGIN])('%s', (role) => {
  test.each(['auth', 'migrations', 'pgboss'])('has no right on any table of the schema %s', async (schema) => {
    expect(await rightsOf(role, schema)).toEqual([]);
  });

  test('makes nothing anywhere', async () => {
    const { rows } = await db.admin.query(
      "select nspname from pg_namespace where has_schema_privilege($1, oid, 'create') and nspname !~ '^pg_temp'",
      [role],
    );
    expect(rows).toEqual([]);
  });
});

test('the service works with the tables of the jobs, changes none of them, and nobody else sees their schema', async () => {
  const rights = await rightsOf('service_role', 'pgboss');
  expect(rights).toEqual(expect.arrayContaining(['job.state update', 'job delete', 'schedule.cron insert']));
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

test('the login of requests has no right of its own and may become the three acting roles alone', async () => {
  expect(await rightsOf(LOGIN, 'public')).toEqual([]);
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

test('every table that clients reach has row-level security, on its owner too', async () => {
  const { rows } = await db.admin.query(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not (relrowsecurity and relforcerowsecurity)`,
  );
  expect(rows).toEqual([]);
});

test("three triggers and the view of one's own dates lend their owner's rights, and nothing else does", async () => {
  const { rows } = await db.admin.query(
    `select proname || ' returns ' || prorettype::regtype as name from pg_proc where prosecdef and pronamespace::regnamespace::text in ('public', 'auth')
      union all
     select relname from pg_class where relkind in ('v', 'm') and relnamespace::regnamespace::text in ('public', 'auth')
      order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([
    'entry_dates',
    'forget_day returns trigger',
    'forget_reviews_of_moved_log returns trigger',
    'make_profile returns trigger',
  ]);
});
