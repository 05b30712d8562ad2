import { expect, test, beforeAll } from 'vitest';
import { FIND_MAX_RESULTS, parseSearchTerms } from '#domain/match-search.ts';
import type { Database } from '../database/database.ts';
import { findDays, updateSearchIndex } from './find-entries.ts';
import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { DAYS, identityOf, PEOPLE, resetFixtures } from '../../../tests/policies/fixtures.ts';

test('yields to the event loop while it builds snippets', async () => {
  const row = { date: '2026-11-21', changed: false, text: '漢'.repeat(2_700) };
  const rows = Array.from({ length: FIND_MAX_RESULTS }, () => row);
  const database = { transactAsUser: () => Promise.resolve({ rows }) } as unknown as Database;
  let turns = 0;
  const others = setInterval(() => (turns += 1));
  const caller = { identity: {} as never, userId: 'ana' };
  const found = await findDays(database, caller, parseSearchTerms('漢'));
  clearInterval(others);
  expect(found!.results).toHaveLength(FIND_MAX_RESULTS);
  expect(turns).toBeGreaterThan(10);
});

const { id: userId } = PEOPLE.free;
const date = DAYS.earliestToday;

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
});

test('indexes the new log when a day is deleted and recreated between read and write', async () => {
  const insertSql = 'insert into entries (user_id, date, content) values ($1, $2, $3)';
  await db.admin.query('delete from entries where user_id = $1', [userId]);
  await db.admin.query(insertSql, [userId, date, '<p>old</p>']);
  let isRecreated = false;
  const database: Database = {
    ...db.database,
    asService(reason) {
      const service = db.database.asService(reason);
      return {
        ...service,
        async statement(text, values) {
          if (!isRecreated) {
            isRecreated = true;
            await db.admin.query('delete from entries where user_id = $1', [userId]);
            await db.admin.query(insertSql, [userId, date, '<p>new</p>']);
          }
          return service.statement(text, values);
        },
      };
    },
  };
  expect(await updateSearchIndex(database, { identity: identityOf('free'), userId }, () => true)).toBe(true);
  expect(isRecreated).toBe(true);
  const { rows } = await db.admin.query('select revision, words from entry_words where user_id = $1', [userId]);
  expect(rows).toEqual([{ revision: 1, words: ' new ' }]);
});
