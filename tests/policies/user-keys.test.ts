/** Rows of users can be divided by user over partitions or shards (docs/decisions/0041). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  canExplain,
  tablesWithoutUser,
  readUserTables,
  type UserTable,
} from '../support/statements/check-statements.ts';
import { RECIPIENTS } from '#server/habit/reminder-schedule.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

const db = setUpTestDatabase();
let tables: UserTable[];
beforeAll(async () => {
  tables = await readUserTables(db.admin);
});

test('every table of users is known by the column that names the user', () => {
  expect(tables.map(({ name, userColumn }) => `${name}.${userColumn}`)).toEqual([
    'access_tokens.user_id',
    'analyses.user_id',
    'analysis_runs.user_id',
    'appended_items.user_id',
    'documents.user_id',
    'entries.user_id',
    'entry_versions.user_id',
    'entry_words.user_id',
    'import_days.user_id',
    'mail_tokens.user_id',
    'plan_changes.user_id',
    'plan_reminders.user_id',
    'plan_uses.user_id',
    'preferences.user_id',
    'profiles.id',
    'reminder_schedule.user_id',
    'reviews.user_id',
    'time_off.user_id',
  ]);
});

test('every key of a table of users begins with the user', async () => {
  const { rows } = await db.admin.query<{ table: string; key: string; first: string }>(
    `select relname as table, indexrelid::regclass::text as key, attname as first
       from pg_index join pg_class on pg_class.oid = indrelid
            join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indisunique and relname = any($1) and relnamespace = 'public'::regnamespace and not relispartition`,
    [tables.map(({ name }) => name)],
  );
  expect(rows.length).toBeGreaterThanOrEqual(tables.length);
  const userColumns = new Map(tables.map(({ name, userColumn }) => [name, userColumn]));
  expect(rows.filter(({ table, first }) => first !== userColumns.get(table))).toEqual([]);
});

test('no foreign key has an `on update` action', async () => {
  const { rows } = await db.admin.query(
    "select conname from pg_constraint where contype = 'f' and confupdtype <> 'a' and connamespace = 'public'::regnamespace",
  );
  expect(rows).toEqual([]);
});

describe('the check of the statements', () => {
  beforeEach(async ({ skip }) => skip(!(await canExplain(db.admin)), 'EXPLAIN (GENERIC_PLAN) needs PostgreSQL 16'));

  const without = async (text: string): Promise<string[]> => [...(await tablesWithoutUser(db.admin, text, tables))];

  test.each([
    ['select date from entries where date = $1', ['entries']],
    ['select date from entries where id = $1 limit 1', ['entries']],
    ['update entries set content = $1 where id = $2', ['entries']],
    ['delete from plan_reminders where access_valid_until < $1', ['plan_reminders']],
    ['select from entries e join entry_words w using (user_id, date)', ['entries', 'entry_words']],
    ['select from entries e join entry_words w on w.date = e.date where e.user_id = $1', ['entry_words']],
    ['select from profiles where subscription_plan = $1 for update', ['profiles']],
    ['with gone as (delete from analyses where id = $1 returning user_id) select from gone', ['analyses']],
  ])('finds the tables whose user is not named: %s', async (text, expected) => {
    expect((await without(text)).toSorted()).toEqual(expected);
  });

  test('accepts the users of a list, also once the statistics say that the tables are small', async () => {
    await db.admin.query(
      "insert into auth.users (email) select n || '@example.com' from generate_series(1, 3) n; analyze auth.users, public.profiles",
    );
    expect(await without(RECIPIENTS)).toEqual([]);
  });

  test.each([
    'select date from entries where user_id = $1',
    'select date from entries where user_id = auth.uid() and date = $1',
    'select from entries e left join entry_words w using (user_id, date) where e.user_id = $1',
    'insert into entries (user_id, date, content) values ($1, $2, $3)',
    'update entries set content = $1 where id = $2 and user_id = $3',
    'select count(*) from payments',
    'update public.profiles set ai_consent = false where ai_consent',
  ])('accepts a statement that names its user, a central table and a system sweep: %s', async (text) => {
    expect(await without(text)).toEqual([]);
  });
});
