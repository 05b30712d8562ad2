/** The view `entry_dates`: everybody reads the dates of all own logs, locked ones too, and nothing else by it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

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

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => resetFixtures(db.admin));
afterAll(() => db.drop());

const READ = 'select user_id, date from entry_dates';

describe.each(PERSON_NAMES)('%s', (person) => {
  const { id } = PEOPLE[person];

  test('reads the dates of all own logs, those of locked days as well', async () => {
    const { rows } = await db.database.asUser(identityOf(person)).statement(`${READ} order by date`, []);
    const dates = Object.values(DAYS).sort();
    expect(rows).toEqual(dates.map((date) => ({ user_id: id, date })));
  });

  test.each(DAY_NAMES)("reads no date of another user's log: %s", async (day) => {
    const other = PEOPLE[person === 'endless' ? 'premium' : 'endless'].id;
    expect(await runAs(db.database, person, `${READ} where user_id = $1`, [other])).toBe(0);
    // A date that another user has a log on and this one has not.
    await db.admin.query('delete from entries where user_id = $1', [id]);
    expect(await runAs(db.database, person, `${READ} where date = $1`, [DAYS[day]])).toBe(0);
  });

  test('reads no other column of a locked log', async () => {
    for (const column of ['content', 'content_text', 'revision', 'id', 'updated_at', 'hustle_score']) {
      expect(await runAs(db.database, person, `select ${column} from entry_dates`)).toBe('42703');
    }
  });
});

test('a guest reads nothing', async () => {
  expect(await runAs(db.database, 'guest', READ)).toBe(REFUSED);
});

test.each([...ACTORS, 'service'] as const)('%s writes nothing through it', async (actor) => {
  const insert = "insert into entry_dates (user_id, date) values ($1, '2001-01-01')";
  expect(await runAs(db.database, actor, insert, [PEOPLE.free.id])).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update entry_dates set date = '2001-01-01'")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from entry_dates')).toBe(REFUSED);
});

test('without a user in the claims there are no dates', async () => {
  const nobody = db.database.asUser({ role: 'authenticated', claimsJson: '{}' });
  expect((await nobody.statement(READ, [])).rows).toEqual([]);
});

test('ten years of logs are read through the primary key, among the logs of others', async () => {
  const { id } = PEOPLE.free;
  // Without triggers and foreign keys, which take minutes for so many rows.
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
  expect(plan).toMatch(/(Bitmap Index|Index|Index Only) Scan.* (using|on) entries_pkey/);
  expect(plan).toContain(`rows=${3650 + DAY_NAMES.length}.`);
  expect(plan).not.toMatch(/Seq Scan|SubPlan|Rows Removed/);
});
