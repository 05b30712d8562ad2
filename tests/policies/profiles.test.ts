/** Profiles and the ledger of plans: one's own is read, preferences are written, the rest belongs to the service. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

import { ACTORS, runAs, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures } from './fixtures.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  await resetFixtures(db.admin);
  await db.admin.query("insert into plan_changes (user_id, plan, reason) select id, 'free', 'test' from profiles");
});
afterAll(() => db.drop());

describe('profiles', () => {
  test.each(ACTORS)("%s reads the own one and nobody else's", async (actor) => {
    expect(await runAs(db.database, actor, 'select * from profiles')).toBe(actor === 'guest' ? 0 : 1);
  });

  test.each(PERSON_NAMES)('%s changes the own one, whatever the condition', async (person) => {
    expect(await runAs(db.database, person, "update profiles set country = 'NL', ai_consent = true")).toBe(1);
    const { rows } = await db.admin.query("select id from profiles where country = 'NL'");
    expect(rows).toEqual([{ id: PEOPLE[person].id }]);
  });

  test.each(PERSON_NAMES)('%s cannot become somebody else, nor make a profile for them', async (person) => {
    const other = '00000000-0000-4000-8000-0000000000ff';
    await db.admin.query('insert into auth.users (id) values ($1)', [other]);
    await db.admin.query('delete from profiles where id = $1', [other]);
    expect(await runAs(db.database, person, 'update profiles set id = $1', [other])).toBe(REFUSED);
    expect(await runAs(db.database, person, 'insert into profiles (id) values ($1)', [other])).toBe(REFUSED);
  });

  test.each(ACTORS)('%s deletes none', async (actor) => {
    expect(await runAs(db.database, actor, 'delete from profiles')).toBe(REFUSED);
  });

  test('a guest writes none', async () => {
    expect(await runAs(db.database, 'guest', "update profiles set country = 'NL'")).toBe(REFUSED);
    expect(await runAs(db.database, 'guest', 'insert into profiles (id) values ($1)', [PEOPLE.free.id])).toBe(REFUSED);
  });

  test('the own one can be upserted', async () => {
    const upsert = `insert into profiles (id, country) values ($1, 'DE')
      on conflict (id) do update set id = excluded.id, country = excluded.country`;
    expect(await runAs(db.database, 'free', upsert, [PEOPLE.free.id])).toBe(1);
    expect(await runAs(db.database, 'free', upsert, [PEOPLE.premium.id])).toBe(REFUSED);
  });

  test.each(['nl', 'NLD', 'N', '', 'N1', 'NL\n'])('%j is no country', async (country) => {
    expect(await runAs(db.database, 'free', 'update profiles set country = $1', [country])).toBe('23514');
  });

  test('a user who leaves takes the profile and the logs along, and leaves the ledger', async () => {
    await db.admin.query('delete from auth.users where id = $1', [PEOPLE.free.id]);
    const count = async (table: string, column: string) =>
      (await db.admin.query(`select from ${table} where ${column} = $1`, [PEOPLE.free.id])).rowCount;
    expect(await count('profiles', 'id')).toBe(0);
    expect(await count('entries', 'user_id')).toBe(0);
    expect(await count('plan_changes', 'user_id')).toBeGreaterThan(0);
  });
});

describe('the ledger of plans', () => {
  beforeEach(async () => {
    // Rows of earlier tests stay, as they must: everybody has at least one.
    const { rowCount } = await db.admin.query('select from plan_changes where user_id = $1', [PEOPLE.free.id]);
    expect(rowCount).toBeGreaterThan(0);
  });

  test.each(PERSON_NAMES)('%s reads the own rows', async (person) => {
    const all = 'select * from plan_changes';
    const own = await runAs(db.database, person, `${all} where user_id = $1`, [PEOPLE[person].id]);
    expect(own).toBeGreaterThan(0);
    expect(await runAs(db.database, person, all)).toBe(own);
  });

  test('a guest reads none', async () => {
    expect(await runAs(db.database, 'guest', 'select * from plan_changes')).toBe(REFUSED);
  });

  const add = "insert into plan_changes (user_id, plan, reason) values ($1, 'premium', 'wish')";
  test.each(ACTORS)('%s writes none', async (actor) => {
    expect(await runAs(db.database, actor, add, [PEOPLE.free.id])).toBe(REFUSED);
    expect(await runAs(db.database, actor, "update plan_changes set reason = 'other'")).toBe(REFUSED);
    expect(await runAs(db.database, actor, 'delete from plan_changes')).toBe(REFUSED);
  });

  test('the service adds rows, and changes none', async () => {
    expect(await runAs(db.database, 'service', add, [PEOPLE.free.id])).toBe(1);
    expect(await runAs(db.database, 'service', "update plan_changes set reason = 'other'")).toBe(REFUSED);
    expect(await runAs(db.database, 'service', 'delete from plan_changes')).toBe(REFUSED);
  });

  test.each(["update plan_changes set reason = 'other'", 'delete from plan_changes', 'truncate plan_changes'])(
    'not even a superuser may: %s',
    async (text) => {
      await expect(db.admin.query(text)).rejects.toMatchObject({ code: '23001' });
    },
  );
});
