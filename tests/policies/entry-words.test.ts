/** The words that searches compare with are read on the same days as the logs that they are of, and written by the server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

import {
  ACTORS,
  runAs,
  DAYS,
  DAY_NAMES,
  identityOf,
  PEOPLE,
  PERSON_NAMES,
  REFUSED,
  resetFixtures,
} from './fixtures.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await resetFixtures(db.admin);
  await db.admin.query("insert into entry_words select user_id, date, revision, ' mine ' from entries");
});
afterAll(() => db.drop());

describe.each(PERSON_NAMES)('%s', (person) => {
  const { id } = PEOPLE[person];

  test.each(DAY_NAMES)('reads words where the log is read: %s', async (name) => {
    const of = (table: string) => `select * from ${table} where user_id = $1 and date = $2`;
    const log = await runAs(db.database, person, of('entries'), [id, DAYS[name]]);
    expect(await runAs(db.database, person, of('entry_words'), [id, DAYS[name]])).toBe(log);
  });

  test('reads no words of others', async () => {
    expect(await runAs(db.database, person, 'select * from entry_words where user_id <> $1', [id])).toBe(0);
  });
});

test.each(ACTORS)('%s writes none', async (actor) => {
  const insert = "insert into entry_words values ($1, $2, 1, ' x ')";
  expect(await runAs(db.database, actor, insert, [PEOPLE.free.id, DAYS.earliestToday])).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update entry_words set words = ' x '")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from entry_words')).toBe(REFUSED);
});

test('a guest reads none', async () => {
  expect(await runAs(db.database, 'guest', 'select * from entry_words')).toBe(REFUSED);
});

/**
 * Threat: a plan that compares words before the policy has judged the row, or goes through an index of everybody's words,
 * would take a time that tells what others write. `strpos` may not be trusted with a row that the policy hides, and the
 * planner knows it: it is no leakproof function.
 */
test("only a user's own rows are looked at, by the key that begins with the user, and the policy comes first", async () => {
  const { rows: trust } = await db.admin.query(
    "select bool_or(proleakproof) as any from pg_proc where proname = 'strpos'",
  );
  expect(trust).toEqual([{ any: false }]);
  const { rows } = await db.database
    .asUser(identityOf('premium'))
    .statement<{ 'QUERY PLAN': string }>(
      "explain select date from entry_words where strpos(words, ' mine') > 0 and user_id = $1",
      [PEOPLE.free.id],
    );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('entry_words_pkey');
  expect(plan).toMatch(/Filter: \(\(\(?date >= .*strpos/);
});

test('a day that is deleted takes its words along', async () => {
  const which = [PEOPLE.free.id, DAYS.earliestToday];
  await runAs(db.database, 'free', 'delete from entries where user_id = $1 and date = $2', which);
  const { rowCount } = await db.admin.query('select from entry_words where user_id = $1 and date = $2', which);
  expect(rowCount).toBe(0);
});
