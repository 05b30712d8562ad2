/** The view `entry_dates`: users read the dates of all their own entries, also of locked days, and nothing else. */
import { beforeEach, describe, expect, test } from 'vitest';

import { isPartitioned } from '../support/partition-tables.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

import {
  ACTORS,
  runAs,
  DAY_NAMES,
  DAYS,
  identityOf,
  PEOPLE,
  PERSON_NAMES,
  REFUSED,
  resetFixtures,
} from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(() => resetFixtures(db.admin));

const READ = 'select user_id, date from entry_dates';

describe.each(PERSON_NAMES)('the %s user', (person) => {
  const { id } = PEOPLE[person];

  test('reads the dates of all own entries, also of locked days', async () => {
    const { rows } = await db.database.asUser(identityOf(person)).statement(`${READ} order by date`, []);
    const dates = Object.values(DAYS).sort();
    expect(rows).toEqual(dates.map((date) => ({ user_id: id, date })));
  });

  test.each(DAY_NAMES)("cannot read the date of another user's entry: %s", async (day) => {
    const other = PEOPLE[person === 'endless' ? 'premium' : 'endless'].id;
    expect(await runAs(db.database, person, `${READ} where user_id = $1`, [other])).toBe(0);
    // After this statement only other users have an entry of this date.
    await db.admin.query('delete from entries where user_id = $1', [id]);
    expect(await runAs(db.database, person, `${READ} where date = $1`, [DAYS[day]])).toBe(0);
  });

  test('cannot read other columns through entry_dates', async () => {
    for (const column of ['content', 'content_text', 'revision', 'id', 'updated_at', 'hustle_score']) {
      expect(await runAs(db.database, person, `select ${column} from entry_dates`)).toBe('42703');
    }
  });
});

test('a guest cannot read entry_dates', async () => {
  expect(await runAs(db.database, 'guest', READ)).toBe(REFUSED);
});

test.each([...ACTORS, 'service'] as const)('the %s user cannot write through entry_dates', async (actor) => {
  const insert = "insert into entry_dates (user_id, date) values ($1, '2001-01-01')";
  expect(await runAs(db.database, actor, insert, [PEOPLE.free.id])).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update entry_dates set date = '2001-01-01'")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from entry_dates')).toBe(REFUSED);
});

test('claims without a user read no rows of entry_dates', async () => {
  const withoutUser = db.database.asUser({ role: 'authenticated', claimsJson: '{}' });
  expect((await withoutUser.statement(READ, [])).rows).toEqual([]);
});

test.skipIf(isPartitioned)("entry_dates reads ten years of entries through an index of the user's rows", async () => {
  const { id } = PEOPLE.free;
  // `session_replication_role = replica` skips triggers and foreign keys, which take minutes for that many rows.
  const connection = await db.admin.connect();
  await connection.query('set session_replication_role = replica');
  await connection.query(
    `insert into entries (user_id, date, content)
       select user_id, '2010-01-01'::date + day, '<p>x</p>' from generate_series(1, 3650) day,
         (select $1::uuid as user_id union all select gen_random_uuid() from generate_series(1, 20)) users`,
    [id],
  );
  await connection.query('reset session_replication_role');
  connection.release();
  await db.admin.query('analyze entries');
  const explain = `explain (analyze, costs off, timing off, summary off, buffers off)
    select date from entry_dates where user_id = '${id}' order by date desc`;
  const { rows } = await db.database.asUser(identityOf('free')).statement<{ 'QUERY PLAN': string }>(explain, []);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  // Both indexes begin with the user's id.
  expect(plan).toMatch(/(Bitmap Index|Index|Index Only) Scan.* (using|on) entries_(pkey|id_key)/);
  // PostgreSQL 18 prints an average, with decimals.
  expect(plan).toMatch(new RegExp(`rows=${3650 + DAY_NAMES.length}[. ]`));
  expect(plan).not.toMatch(/Seq Scan|SubPlan|Rows Removed/);
});
