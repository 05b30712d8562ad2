import { expect, test } from 'vitest';
import { FIND_MAX_RESULTS, parseSearchTerms } from '#domain/match-search.ts';
import type { Database } from '../database/database.ts';
import { findDays } from './find-days.ts';

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
