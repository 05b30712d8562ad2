/** Policies of `plan_uses`: users read their own rows, the service inserts, the table is append-only. */
import { beforeAll, beforeEach, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import { ACTORS, runAs, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
});
beforeEach(() => db.admin.query("insert into plan_uses (user_id, kind) select id, 'export' from profiles"));

const ADD = "insert into plan_uses (user_id, kind) values ($1, 'export')";

test.each(PERSON_NAMES)('the %s user reads only their own plan_uses', async (person) => {
  const own = await runAs(db.database, person, 'select * from plan_uses where user_id = $1', [PEOPLE[person].id]);
  expect(own).toBeGreaterThan(0);
  expect(await runAs(db.database, person, 'select * from plan_uses')).toBe(own);
});

test('a guest cannot read plan_uses', async () => {
  expect(await runAs(db.database, 'guest', 'select * from plan_uses')).toBe(REFUSED);
});

test.each(ACTORS)('the %s user cannot write plan_uses', async (actor) => {
  expect(await runAs(db.database, actor, ADD, [PEOPLE.free.id])).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update plan_uses set kind = 'analysis'")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from plan_uses')).toBe(REFUSED);
});

test('the service inserts plan_uses of the two kinds and cannot change them', async () => {
  expect(await runAs(db.database, 'service', ADD, [PEOPLE.free.id])).toBe(1);
  expect(await runAs(db.database, 'service', ADD.replace('export', 'analysis'), [PEOPLE.free.id])).toBe(1);
  expect(await runAs(db.database, 'service', ADD.replace('export', 'other'), [PEOPLE.free.id])).toBe('23514');
  expect(await runAs(db.database, 'service', "update plan_uses set kind = 'analysis'")).toBe(REFUSED);
  expect(await runAs(db.database, 'service', 'delete from plan_uses')).toBe(REFUSED);
});

test.each(["update plan_uses set kind = 'analysis'", 'delete from plan_uses', 'truncate plan_uses'])(
  'a superuser cannot: %s',
  async (text) => {
    await expect(db.admin.query(text)).rejects.toMatchObject({ code: '23001' });
  },
);
