/**
 * Policies of `entry_words`, the search index: readable on the same days as the entries, written only by the service.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import { isPartitioned } from '../support/partition-tables.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

import {
  ACTORS,
  runAs,
  DAY_LABELS,
  DAYS,
  DAY_NAMES,
  identityOf,
  PEOPLE,
  PERSON_NAMES,
  REFUSED,
  resetFixtures,
} from './fixtures.ts';

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
  await db.admin.query("insert into entry_words select user_id, date, revision, ' mine ' from entries");
});

describe.each(PERSON_NAMES)('the %s user', (person) => {
  const { id } = PEOPLE[person];

  test.each(DAY_NAMES.map((name) => [DAY_LABELS[name], name] as const))(
    'can read entry_words of %s only if the entry is readable',
    async (_label, name) => {
      const readRow = (table: string) => `select * from ${table} where user_id = $1 and date = $2`;
      const log = await runAs(db.database, person, readRow('entries'), [id, DAYS[name]]);
      expect(await runAs(db.database, person, readRow('entry_words'), [id, DAYS[name]])).toBe(log);
    },
  );

  test("cannot read another user's entry_words", async () => {
    expect(await runAs(db.database, person, 'select * from entry_words where user_id <> $1', [id])).toBe(0);
  });
});

test.each(ACTORS)('the %s user cannot write entry_words', async (actor) => {
  const insert = "insert into entry_words values ($1, $2, 1, ' x ')";
  expect(await runAs(db.database, actor, insert, [PEOPLE.free.id, DAYS.earliestToday])).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update entry_words set words = ' x '")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from entry_words')).toBe(REFUSED);
});

test('a guest cannot read entry_words', async () => {
  expect(await runAs(db.database, 'guest', 'select * from entry_words')).toBe(REFUSED);
});

/**
 * Threat: timing side channel. A query plan that compares words before the policy is applied, or that scans an index
 * over all users' words, takes a time that depends on other users' text. `strpos` is not leakproof, so the planner
 * applies the policy first.
 */
test.skipIf(isPartitioned)(
  "a search reads only the user's own entry_words by the primary key, and the policy is applied first",
  async () => {
    const { rows: leakproof } = await db.admin.query(
      "select bool_or(proleakproof) as any from pg_proc where proname = 'strpos'",
    );
    expect(leakproof).toEqual([{ any: false }]);
    const { rows } = await db.database
      .asUser(identityOf('premium'))
      .statement<{ 'QUERY PLAN': string }>(
        "explain select date from entry_words where strpos(words, ' mine') > 0 and user_id = $1",
        [PEOPLE.free.id],
      );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('entry_words_pkey');
    expect(plan).toMatch(/Filter: \(\(\(?date >= .*strpos/);
  },
);

test('deleting an entry deletes its entry_words', async () => {
  const key = [PEOPLE.free.id, DAYS.earliestToday];
  await runAs(db.database, 'free', 'delete from entries where user_id = $1 and date = $2', key);
  const { rowCount } = await db.admin.query('select from entry_words where user_id = $1 and date = $2', key);
  expect(rowCount).toBe(0);
});
