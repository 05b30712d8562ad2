import { randomUUID } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { setUpTestDatabase } from '../../../tests/support/set-up.ts';
import { DAYS, PEOPLE, resetFixtures } from '../../../tests/policies/fixtures.ts';

import { createCoachStore, type Analysis, type Claim } from './coach-store.ts';

const { id: userId } = PEOPLE.premium;
const ANALYSIS: Analysis = {
  ...{ inputHash: 'hash', provider: 'google', model: 'gemini', modelVersion: null, promptVersion: 1, finish: 'stop' },
  ...{ inputTokens: null, outputTokens: null, durationMs: 5, score: null, text: 'Good.', cited: [], missingFact: null },
};

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
});

test('storeAnalysis locks the logs of a review in date order', async () => {
  const [first, last] = [DAYS.firstOpen, DAYS.earliestToday];
  // The date order differs from both the insertion order and the order of the ids.
  const logs = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
  await db.admin.query('delete from entries where user_id = $1', [userId]);
  await db.admin.query(
    `insert into entries (user_id, id, date, content) select $1, id, date, '<p>mine</p>'
       from unnest($2::uuid[], $3::date[]) log (id, date)`,
    [userId, logs, [last, first]],
  );
  const store = createCoachStore(db.database);
  const claim: Claim = { userId, kind: 'trend', key: 'week', run: randomUUID() };
  await store.claim(claim, 60_000);
  const other = await db.admin.connect();
  try {
    await other.query('begin');
    await other.query('update entries set content = $3 where user_id = $1 and date = $2', [userId, first, '<p>a</p>']);
    const finishing = store.storeAnalysis(claim, ANALYSIS, { from: first, to: last, logs, review: null });
    const isWaiting = async () =>
      (
        await db.admin.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).rowCount === 1;
    await expect.poll(isWaiting).toBe(true);
    await other.query('select from entries where user_id = $1 and date = $2 for update nowait', [userId, last]);
    await other.query('commit');
    expect(await finishing).toMatchObject({ written: null });
  } finally {
    other.release(true);
  }
});
