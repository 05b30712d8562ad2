/** Policies of `profiles` and `plan_changes`: users read their own rows and write their preferences. */
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import { ACTORS, runAs, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(async () => {
  await resetFixtures(db.admin);
  await db.admin.query("insert into plan_changes (user_id, plan, reason) select id, 'free', 'test' from profiles");
});

describe('profiles', () => {
  test.each(ACTORS)('the %s user reads at most their own profile', async (actor) => {
    expect(await runAs(db.database, actor, 'select * from profiles')).toBe(actor === 'guest' ? 0 : 1);
  });

  test.each(PERSON_NAMES)('the %s user updates only their own profile, even without a condition', async (person) => {
    expect(await runAs(db.database, person, "update profiles set country = 'NL', ai_consent = true")).toBe(1);
    const { rows } = await db.admin.query("select id from profiles where country = 'NL'");
    expect(rows).toEqual([{ id: PEOPLE[person].id }]);
  });

  test.each(PERSON_NAMES)(
    "the %s user cannot change their profile's id or insert a profile for another user",
    async (person) => {
      const other = '00000000-0000-4000-8000-0000000000ff';
      await db.admin.query('insert into auth.users (id) values ($1)', [other]);
      await db.admin.query('delete from profiles where id = $1', [other]);
      expect(await runAs(db.database, person, 'update profiles set id = $1', [other])).toBe(REFUSED);
      expect(await runAs(db.database, person, 'insert into profiles (id) values ($1)', [other])).toBe(REFUSED);
    },
  );

  test.each(ACTORS)('the %s user cannot delete profiles', async (actor) => {
    expect(await runAs(db.database, actor, 'delete from profiles')).toBe(REFUSED);
  });

  test('a guest cannot write profiles', async () => {
    expect(await runAs(db.database, 'guest', "update profiles set country = 'NL'")).toBe(REFUSED);
    expect(await runAs(db.database, 'guest', 'insert into profiles (id) values ($1)', [PEOPLE.free.id])).toBe(REFUSED);
  });

  test('a free user can upsert their own profile and no other', async () => {
    const upsert = `insert into profiles (id, country) values ($1, 'DE')
      on conflict (id) do update set id = excluded.id, country = excluded.country`;
    expect(await runAs(db.database, 'free', upsert, [PEOPLE.free.id])).toBe(1);
    expect(await runAs(db.database, 'free', upsert, [PEOPLE.premium.id])).toBe(REFUSED);
  });

  test.each(['nl', 'NLD', 'N', '', 'N1', 'NL\n'])('profiles rejects the country %j', async (country) => {
    expect(await runAs(db.database, 'free', 'update profiles set country = $1', [country])).toBe('23514');
  });

  test('deleting an account deletes its profile and entries and keeps its plan_changes', async () => {
    await db.admin.query('delete from auth.users where id = $1', [PEOPLE.free.id]);
    const count = async (table: string, column: string) =>
      (await db.admin.query(`select from ${table} where ${column} = $1`, [PEOPLE.free.id])).rowCount;
    expect(await count('profiles', 'id')).toBe(0);
    expect(await count('entries', 'user_id')).toBe(0);
    expect(await count('plan_changes', 'user_id')).toBeGreaterThan(0);
  });
});

describe('plan_changes', () => {
  beforeEach(async () => {
    // The `beforeEach` of the file adds a row for every user. The table is append-only, so earlier tests' rows remain.
    const { rowCount } = await db.admin.query('select from plan_changes where user_id = $1', [PEOPLE.free.id]);
    expect(rowCount).toBeGreaterThan(0);
  });

  test.each(PERSON_NAMES)('the %s user reads only their own plan_changes', async (person) => {
    const all = 'select * from plan_changes';
    const own = await runAs(db.database, person, `${all} where user_id = $1`, [PEOPLE[person].id]);
    expect(own).toBeGreaterThan(0);
    expect(await runAs(db.database, person, all)).toBe(own);
  });

  test('a guest cannot read plan_changes', async () => {
    expect(await runAs(db.database, 'guest', 'select * from plan_changes')).toBe(REFUSED);
  });

  const add = "insert into plan_changes (user_id, plan, reason) values ($1, 'premium', 'wish')";
  test.each(ACTORS)('the %s user cannot write plan_changes', async (actor) => {
    expect(await runAs(db.database, actor, add, [PEOPLE.free.id])).toBe(REFUSED);
    expect(await runAs(db.database, actor, "update plan_changes set reason = 'other'")).toBe(REFUSED);
    expect(await runAs(db.database, actor, 'delete from plan_changes')).toBe(REFUSED);
  });

  test('the service inserts plan_changes and cannot change them', async () => {
    expect(await runAs(db.database, 'service', add, [PEOPLE.free.id])).toBe(1);
    expect(await runAs(db.database, 'service', "update plan_changes set reason = 'other'")).toBe(REFUSED);
    expect(await runAs(db.database, 'service', 'delete from plan_changes')).toBe(REFUSED);
  });

  test.each(["update plan_changes set reason = 'other'", 'delete from plan_changes', 'truncate plan_changes'])(
    'a superuser cannot: %s',
    async (text) => {
      await expect(db.admin.query(text)).rejects.toMatchObject({ code: '23001' });
    },
  );
});
