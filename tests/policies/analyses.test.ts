/** Policies of `analyses` and `analysis_runs`: premium users read their own analyses, only the service inserts them. */
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import { ACTORS, runAs, DAYS, PEOPLE, PERSON_NAMES, REFUSED, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(async () => {
  await resetFixtures(db.admin);
  await db.admin.query(ADD_ALL);
  await db.admin.query(
    `insert into analysis_runs select id, 'feedback', 'x', id, now(), current_date, 1 from auth.users`,
  );
});

const COMMON = 'input_hash, provider, model, prompt_version, finish_reason, duration_ms, text';
const VALUES = `'hash', 'google', 'gemini', 1, 'stop', 5, 'Good work.'`;
const ADD_ALL = `insert into analyses (user_id, kind, date, score, ${COMMON})
  select user_id, 'feedback', date, 7, ${VALUES} from entries`;
const ADD_ONE = `insert into analyses (user_id, kind, date, period_from, period_to, score, ${COMMON})
  values ($1, $2, $3, $4, $5, $6, ${VALUES})`;
const READ = 'select user_id, kind, date, score, text, cited, missing_fact from analyses';

describe.each(PERSON_NAMES)('the %s user', (person) => {
  const isCloser = person === 'premium' || person === 'endless';

  test(`${isCloser ? 'reads only their own' : 'cannot read any'} analyses`, async () => {
    const own = await runAs(db.database, person, `${READ} where user_id = $1`, [PEOPLE[person].id]);
    expect(own).toBe(isCloser ? Object.keys(DAYS).length : 0);
    expect(await runAs(db.database, person, READ)).toBe(own);
  });

  test('cannot read the cost of analyses, nor analysis_runs', async () => {
    expect(await runAs(db.database, person, 'select input_tokens from analyses')).toBe(REFUSED);
    expect(await runAs(db.database, person, 'select key from analysis_runs')).toBe(REFUSED);
  });
});

test('a guest cannot read analyses', async () => {
  expect(await runAs(db.database, 'guest', READ)).toBe(REFUSED);
});

test.each(ACTORS)('the %s user cannot write analyses or analysis_runs', async (actor) => {
  const feedback = [PEOPLE.premium.id, 'feedback', DAYS.earliestToday, null, null, 10];
  expect(await runAs(db.database, actor, ADD_ONE, feedback)).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'update analyses set score = 10')).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from analyses')).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'update analysis_runs set tries = 0, lease_until = now()')).toBe(REFUSED);
  expect(await runAs(db.database, actor, 'delete from analysis_runs')).toBe(REFUSED);
});

test.each([
  ['a feedback', ['feedback', DAYS.earliestToday, null, null, 1], 1],
  ['a review', ['trend', null, DAYS.firstOpen, DAYS.earliestToday, null], 1],
  ['a feedback without a score', ['feedback', DAYS.earliestToday, null, null, null], '23514'],
  ['a feedback with a score above 10', ['feedback', DAYS.earliestToday, null, null, 11], '23514'],
  ['a feedback without a day', ['feedback', null, null, null, 5], '23514'],
  ['a feedback on a day without a log', ['feedback', '2001-01-01', null, null, 5], '23503'],
  ['a review that ends before it begins', ['trend', null, DAYS.earliestToday, DAYS.firstOpen, null], '23514'],
  ['a review with a score', ['trend', null, DAYS.firstOpen, DAYS.earliestToday, 5], '23514'],
] as const)('the service inserts %s into analyses: %o results in %s', async (_what, values, outcome) => {
  expect(await runAs(db.database, 'service', ADD_ONE, [PEOPLE.free.id, ...values])).toBe(outcome);
});

test('the service cannot update or delete analyses', async () => {
  expect(await runAs(db.database, 'service', 'update analyses set score = 10')).toBe(REFUSED);
  expect(await runAs(db.database, 'service', 'delete from analyses')).toBe(REFUSED);
});

test('a superuser cannot update analyses', async () => {
  await expect(db.admin.query("update analyses set text = 'other'")).rejects.toMatchObject({ code: '23001' });
  await expect(db.admin.query('update analyses set score = 1')).rejects.toMatchObject({ code: '23001' });
});

test('moving or deleting an entry moves or deletes its analyses', async () => {
  const { id } = PEOPLE.premium;
  const readOf = (day: string) => runAs(db.database, 'premium', `${READ} where date = $1`, [day]);
  const move = 'update entries set date = $3 where user_id = $1 and date = $2';
  expect(await runAs(db.database, 'premium', move, [id, DAYS.longAgo, '2001-01-01'])).toBe(1);
  expect([await readOf(DAYS.longAgo), await readOf('2001-01-01')]).toEqual([0, 1]);
  expect(await runAs(db.database, 'premium', "delete from entries where date = '2001-01-01'")).toBe(1);
  expect(await readOf('2001-01-01')).toBe(0);
});

describe('a review', () => {
  const { id } = PEOPLE.premium;
  const READ_PERIOD_ENDS =
    'select period_to::text from analyses where user_id = $1 and period_to is not null order by 1';
  const readPeriodEnds = async () => (await db.admin.query(READ_PERIOD_ENDS, [id])).rows.map(({ period_to: to }) => to);
  beforeEach(async () => {
    for (const user of [id, PEOPLE.endless.id]) {
      for (const [from, to] of [
        ['2001-01-01', '2001-01-07'],
        ['2001-01-07', '2001-01-13'],
        ['2001-01-08', '2001-01-14'],
      ]) {
        await db.admin.query(ADD_ONE, [user, 'trend', null, from, to, null]);
      }
      await db.admin.query(
        `insert into entries (user_id, date, content) select $1, day::date, '<p>Shipped it</p>'
           from generate_series('2001-01-01', '2001-01-14', interval '1 day') day`,
        [user],
      );
    }
  });

  test.each([
    ['deleted', "delete from entries where date = '2001-01-07'"],
    ['emptied', "update entries set content = '<p> </p>' where date = '2001-01-07'"],
  ])('is deleted when an entry of its period is %s, and other periods keep theirs', async (_what, statement) => {
    expect(await runAs(db.database, 'premium', statement)).toBe(1);
    expect(await readPeriodEnds()).toEqual(['2001-01-14']);
    const { rows } = await db.admin.query(READ_PERIOD_ENDS, [PEOPLE.endless.id]);
    expect(rows).toHaveLength(3);
  });

  test('is deleted when an entry is moved out of its period, and kept when it is moved within', async () => {
    await db.admin.query("delete from entries where date in ('2001-01-02', '2001-01-14')");
    await db.admin.query(ADD_ONE, [id, 'trend', null, '2001-01-01', '2001-01-07', null]);
    const move = 'update entries set date = $2 where date = $1';
    expect(await runAs(db.database, 'premium', move, ['2001-01-03', '2001-01-02'])).toBe(1);
    expect(await readPeriodEnds()).toContain('2001-01-07');
    expect(await runAs(db.database, 'premium', move, ['2001-01-02', '2001-01-14'])).toBe(1);
    expect(await readPeriodEnds()).toEqual(['2001-01-13']);
    const { rows } = await db.admin.query(READ_PERIOD_ENDS, [PEOPLE.endless.id]);
    expect(rows.length).toBeGreaterThan(0);
  });

  test('is kept when an entry of its period is rewritten', async () => {
    const statement = "update entries set content = '<p>Shipped all of it</p>' where date = '2001-01-07'";
    expect(await runAs(db.database, 'premium', statement)).toBe(1);
    expect(await readPeriodEnds()).toHaveLength(3);
  });
});

test('emptying an entry deletes its feedback and analyses', async () => {
  const { id } = PEOPLE.premium;
  const addFeedback = `update entries set ai_feedback = 'Good work.', hustle_score = 7, ai_analyzed_at = now()
                 where user_id = $1 and date = $2`;
  await db.admin.query(addFeedback, [id, DAYS.firstOpen]);
  const clear = "update entries set content = '<p></p>' where date = $1";
  expect(await runAs(db.database, 'premium', clear, [DAYS.firstOpen])).toBe(1);
  const { rows } = await db.admin.query(
    `select ai_feedback, hustle_score, ai_analyzed_at,
            (select count(*)::int from analyses where analyses.date = entries.date and user_id = $1) as analyses
       from entries where user_id = $1 and date = $2`,
    [id, DAYS.firstOpen],
  );
  expect(rows).toEqual([{ ai_feedback: null, hustle_score: null, ai_analyzed_at: null, analyses: 0 }]);
});

test('deleting an account deletes its analyses and analysis_runs', async () => {
  await db.admin.query('delete from auth.users where id = $1', [PEOPLE.premium.id]);
  const { rows } = await db.admin.query(
    `select (select count(*)::int from analyses where user_id = $1) as analyses,
            (select count(*)::int from analysis_runs where user_id = $1) as runs`,
    [PEOPLE.premium.id],
  );
  expect(rows).toEqual([{ analyses: 0, runs: 0 }]);
});

test('a day and a period keep their 20 newest analyses', async () => {
  const { id } = PEOPLE.premium;
  await db.admin.query('truncate analyses');
  const add = `insert into analyses (user_id, kind, date, period_from, period_to, score, ${COMMON}, created_at)
    select $1, $2, $3, $4, $5, $6, ${VALUES}, now() + number * interval '1 second' from generate_series(1, 22) number`;
  const days = [DAYS.earliestToday, DAYS.firstOpen];
  for (const day of days) await db.admin.query(add, [id, 'feedback', day, null, null, 7]);
  for (const from of ['2026-01-01', '2026-01-02']) {
    await db.admin.query(add, [id, 'trend', null, from, '2026-01-07', null]);
  }
  const { rows } = await db.admin.query(
    `select count(*)::int as kept, min(created_at) > now() + interval '2 seconds' as newest from analyses
      group by date, period_from, period_to`,
  );
  expect(rows).toEqual(Array.from({ length: 4 }, () => ({ kept: 20, newest: true })));
});
