/** Policies of kept reviews: a paid plan reads all of its own, another plan the newest; only their owner deletes them. */
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import { ACTORS, DAYS, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures, runAs } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(async () => {
  await resetFixtures(db.admin);
  // Two reviews of each user, the newest of the older days, each with its analysis.
  await db.admin.query(
    `with added as (
       insert into reviews (user_id, period, period_from, period_to, entry_count, text, created_at, logs_fingerprint)
       select id, '7-day', $1::date - age, $1::date - age + 6, 2, 'Review ' || age, now() + age * interval '1 day', 'other'
         from auth.users, unnest(array[10, 3]) age returning user_id, id, period_from, period_to, text)
     insert into analyses (user_id, id, kind, period_from, period_to, text, input_hash, provider, model, prompt_version,
                           finish_reason, duration_ms)
     select user_id, id, 'trend', period_from, period_to, text, 'hash', 'google', 'gemini', 1, 'stop', 5 from added`,
    [DAYS.earliestToday],
  );
});

describe.each(PERSON_NAMES)('the %s user', (person) => {
  const isCloser = person === 'premium' || person === 'endless';

  test(`reads ${isCloser ? 'all' : 'only the newest'} of their own reviews`, async () => {
    for (const table of ['reviews', 'kept_reviews']) {
      expect(await runAs(db.database, person, `select text from ${table}`)).toBe(isCloser ? 2 : 1);
      expect(await runAs(db.database, person, `select text from ${table} where text = 'Review 10'`)).toBe(1);
    }
  });

  test('deletes their own review together with its analysis, and no review of another user', async () => {
    const other = person === 'premium' ? 'endless' : 'premium';
    expect(await runAs(db.database, person, 'delete from reviews where user_id = $1', [PEOPLE[other].id])).toBe(0);
    expect(await runAs(db.database, person, "delete from reviews where text = 'Review 10'")).toBe(1);
    const { rows } = await db.admin.query('select text from analyses where user_id = $1', [PEOPLE[person].id]);
    expect(rows).toEqual([{ text: 'Review 3' }]);
    const { rows: others } = await db.admin.query('select from reviews where user_id = $1', [PEOPLE[other].id]);
    expect(others).toHaveLength(2);
  });
});

test.each(ACTORS)('the %s user cannot write a review', async (actor) => {
  const add = `insert into reviews (user_id, period, period_from, period_to, text)
    values ('${PEOPLE.premium.id}', 'year', '2026-01-01', '2026-12-31', 'Made up')`;
  for (const statement of [add, add.replace('reviews', 'kept_reviews').replace(', text', ', text')])
    expect(await runAs(db.database, actor, statement)).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update reviews set text = 'Made up'")).toBe(REFUSED);
  expect(await runAs(db.database, actor, "update kept_reviews set text = 'Made up'")).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from kept_reviews')).toBe(REFUSED);
});

test('a guest cannot read reviews', async () => {
  expect(await runAs(db.database, 'guest', 'select from reviews')).toBe(REFUSED);
  expect(await runAs(db.database, 'guest', 'select from kept_reviews')).toBe(REFUSED);
});

test.each([
  ['an unknown period', ['decade', '2026-01-01', '2026-12-31'], '23514'],
  ['a period that ends before it begins', ['year', '2026-12-31', '2026-01-01'], '23514'],
  ['a year', ['year', '2026-01-01', '2026-12-31'], 1],
] as const)('the service inserts %s: %o results in %s', async (_what, values, outcome) => {
  const add = `insert into reviews (user_id, period, period_from, period_to, text) values ($1, $2, $3, $4, 'Text')`;
  expect(await runAs(db.database, 'service', add, [PEOPLE.free.id, ...values])).toBe(outcome);
});

test('deleting a review also deletes the analysis that a deleted day has taken along', async () => {
  const { id } = PEOPLE.premium;
  await db.admin.query(
    `insert into entries (user_id, date, content) select $1, period_from, '<p>Shipped</p>' from reviews where user_id = $1`,
    [id],
  );
  await db.admin.query('delete from entries using reviews r where r.user_id = $1 and date = period_from', [id]);
  const readTaken = async (): Promise<unknown[]> => {
    const { rows } = await db.admin.query(
      `select analysis ->> 'text' as text from entry_versions, jsonb_array_elements(feedback -> 'analyses') analysis
        where user_id = $1 order by 1`,
      [id],
    );
    return rows;
  };
  expect(await readTaken()).toEqual([{ text: 'Review 10' }, { text: 'Review 3' }]);
  expect(await runAs(db.database, 'premium', "delete from reviews where text = 'Review 10'")).toBe(1);
  expect(await readTaken()).toEqual([{ text: 'Review 3' }]);
});

describe('is_changed of a review', () => {
  const { id } = PEOPLE.premium;
  const [from, to] = ['2001-01-01', '2001-01-07'];
  const readChanged = async (person: 'premium' | 'free' = 'premium'): Promise<boolean | null> => {
    for (const changed of [true, false]) {
      const statement = 'select from kept_reviews where period_from = $1 and is_changed = $2';
      if ((await runAs(db.database, person, statement, [from, changed])) === 1) return changed;
    }
    return null;
  };
  const addLog = 'insert into entries (user_id, date, content) values ($1, $2, $3)';
  beforeEach(async () => {
    for (const user of [id, PEOPLE.free.id]) {
      for (const day of ['2001-01-02', '2001-01-03', '2001-01-20'])
        await db.admin.query(addLog, [user, day, '<p>Shipped it</p>']);
      await db.admin.query(
        `insert into reviews (user_id, period, period_from, period_to, text, created_at, logs_fingerprint)
         select $1, '7-day', $2, $3, 'Text', now() + interval '20 days',
                md5(string_agg(concat_ws(' ', date, id, revision), ',' order by date))
           from entries where user_id = $1 and date between $2 and $3`,
        [user, from, to],
      );
    }
  });

  test.each([
    ['rewritten', "update entries set content = '<p>Shipped more</p>' where date = '2001-01-02'"],
    ['emptied', "update entries set content = '<p></p>' where date = '2001-01-02'"],
    ['deleted', "delete from entries where date = '2001-01-02'"],
    ['moved within', "update entries set date = '2001-01-04' where date = '2001-01-02'"],
    ['moved out', "update entries set date = '2001-01-21' where date = '2001-01-02'"],
    ['moved in', "update entries set date = '2001-01-05' where date = '2001-01-20'"],
    ['added', `insert into entries (user_id, date, content) values ('${id}', '2001-01-06', '<p>Late</p>')`],
  ])('becomes true when a log of its period is %s, and the review stays', async (_what, statement) => {
    expect(await readChanged()).toBe(false);
    expect(await runAs(db.database, 'premium', statement)).toBe(1);
    expect(await readChanged()).toBe(true);
  });

  test.each([
    ['a log outside of its period', "delete from entries where date = '2001-01-20'"],
    ['a log of another user', null],
  ])('stays false after a change of %s', async (_what, statement) => {
    if (statement === null) {
      await db.admin.query("update entries set content = '<p>Other</p>' where user_id = $1", [PEOPLE.endless.id]);
    } else {
      expect(await runAs(db.database, 'premium', statement)).toBe(1);
    }
    expect(await readChanged()).toBe(false);
  });

  test('ignores feedback, and is known for locked days of a plan that has ended', async () => {
    await db.admin.query(
      "update entries set ai_feedback = 'Good', hustle_score = 7, ai_analyzed_at = now() where date < '2001-02-01'",
    );
    expect(await readChanged()).toBe(false);
    expect(await readChanged('free')).toBe(false);
    await db.admin.query("update entries set content = '<p>Other</p>' where user_id = $1 and date = '2001-01-02'", [
      PEOPLE.free.id,
    ]);
    expect(await readChanged('free')).toBe(true);
  });

  test('asks the times of the logs for a review without a fingerprint', async () => {
    await db.admin.query("update reviews set logs_fingerprint = null where text = 'Text'");
    expect(await readChanged()).toBe(false);
    await db.admin.query(
      "update reviews set created_at = now() - interval '1 day' where text = 'Text' and user_id = $1",
      [id],
    );
    expect(await readChanged()).toBe(true);
  });
});

test('deleting an account deletes its reviews', async () => {
  await db.admin.query('delete from auth.users where id = $1', [PEOPLE.premium.id]);
  const { rows } = await db.admin.query('select from reviews where user_id = $1', [PEOPLE.premium.id]);
  expect(rows).toEqual([]);
});
