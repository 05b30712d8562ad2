/** The rights of a personal access token in the database, beside the checks of the functions (capture.md 3). */
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { setUpTestDatabase } from '../support/set-up.ts';
import { DAYS, PEOPLE, REFUSED, resetFixtures, type Outcome } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const { id } = PEOPLE.premium;

async function runWith(scopes: string | null, text: string): Promise<Outcome> {
  const claims = { sub: id, role: 'authenticated', ...(scopes !== null && { scopes }) };
  const user = db.database.asUser({ role: 'authenticated', claimsJson: JSON.stringify(claims) });
  try {
    return (await user.statement(text, [])).rowCount;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code) return error.code;
    throw error;
  }
}

const own = `user_id = '${id}' and date = '${DAYS.earliestToday}'`;
const NEW_DAY = `insert into entries (user_id, date, content) values ('${id}', '${DAYS.longAgo}'::date + 1, '<p>x</p>')`;
const NOTE = `insert into appended_items (user_id, key, items_hash, date, revision)
  values ('${id}', 'k', repeat('x', 43), '${DAYS.longAgo}', 1)`;

test.each<[string, string, Outcome, Outcome, Outcome]>([
  ['reads a day', `select from entries where ${own}`, 1, 1, 1],
  ['inserts a day', NEW_DAY, 1, 1, REFUSED],
  ['changes a day', `update entries set content = '<p>x</p>' where ${own}`, 1, 1, 0],
  ['deletes a day', `delete from entries where ${own}`, 1, 0, 0],
  ['notes a key', NOTE, 1, 1, REFUSED],
  ['changes the profile', `update profiles set ai_consent = true where id = '${id}'`, 1, 0, 0],
  [
    'makes a document',
    `insert into documents (user_id, title, first_day, last_day, content) values ('${id}', 'x', '${DAYS.longAgo}', '${DAYS.longAgo}', '{}')`,
    1,
    REFUSED,
    REFUSED,
  ],
  ['changes the preferences', `update preferences set prompts = true where user_id = '${id}'`, 1, 0, 0],
])('%s: a session, a token that appends, one that reads', async (_, text, session, appending, reading) => {
  for (const [scopes, expected] of [
    ['read', reading],
    ['', reading],
    ['appendix', reading],
    ['append', appending],
    ['append read', appending],
    [null, session],
  ] as const) {
    await resetFixtures(db.admin);
    expect(await runWith(scopes, text), String(scopes)).toBe(expected);
  }
});

test('every table that users may write, also a new one, has a policy that looks at the scopes of a token', async () => {
  const { rows } = await db.admin.query<{ table: string; command: string }>(
    `select relname as table, lower(privilege_type) as command
       from pg_class join information_schema.column_privileges on table_schema = 'public' and table_name = relname
      where relnamespace = 'public'::regnamespace and relkind = 'r' and grantee = 'authenticated'
        and privilege_type in ('INSERT', 'UPDATE')
     union
     select relname, 'delete' from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and has_table_privilege('authenticated', oid, 'delete')
     except
     select tablename, lower(cmd) from pg_policies
      where schemaname = 'public' and roles @> '{authenticated}'
      group by tablename, cmd
     having bool_or(permissive = 'RESTRICTIVE' and coalesce(qual, with_check) ~ 'token_scopes|can_append')
         or bool_and(coalesce(qual, with_check) ~ 'token_scopes|can_append')`,
  );
  expect(rows).toEqual([]);
});
