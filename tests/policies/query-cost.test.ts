/** Query cost of the policies: caller and plan are evaluated once per statement, independent of the number of users. */
import { beforeAll, describe, expect, test } from 'vitest';

import { ACT_AS } from '#server/database/rls-query.ts';

import { isPartitioned } from '../support/partition-tables.ts';
import { setUpTestDatabase } from '../support/set-up.ts';

import { DAYS, identityOf, PEOPLE, resetFixtures } from './fixtures.ts';

const OTHERS = 2_000;

const db = setUpTestDatabase();
beforeAll(async () => {
  await resetFixtures(db.admin);
  await db.admin.query('insert into auth.users (id) select gen_random_uuid() from generate_series(1, $1)', [OTHERS]);
  const logs = "insert into entries (user_id, date, content) select id, $1, '<p>x</p>' from profiles";
  for (const day of [DAYS.longAgo, DAYS.firstOpen]) await db.admin.query(`${logs} on conflict do nothing`, [day]);
  await db.admin.query("insert into plan_changes (user_id, plan, reason) select id, 'free', 'test' from profiles");
  // The planner needs current statistics.
  await db.admin.query('analyze');
});

type Costs = {
  plan: string[];
  /** The number of rows that the statement read in each table, also inside functions. */
  rowsRead: Record<string, number>;
};

/** Runs the statement as a premium user in a transaction that is rolled back. */
async function measureCosts(statement: string): Promise<Costs> {
  const connection = await db.admin.connect();
  const rowsRead = async (): Promise<Record<string, number>> => {
    const { rows } = await connection.query<{ name: string; read: string }>(
      `select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
        where schemaname = 'public'`,
    );
    return Object.fromEntries(rows.map(({ name, read }) => [name, Number(read)]));
  };
  try {
    await connection.query('begin');
    const before = await rowsRead();
    const { role, claimsJson } = identityOf('premium');
    await connection.query(ACT_AS, [role, claimsJson]);
    const { rows } = await connection.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, verbose, costs off, timing off, summary off, buffers off) ${statement}`,
    );
    await connection.query('reset role');
    const after = Object.entries(await rowsRead());
    return {
      plan: rows.map((row) => row['QUERY PLAN']),
      rowsRead: Object.fromEntries(after.map(([name, read]) => [name, read - (before[name] ?? 0)])),
    };
  } finally {
    await connection.query('rollback');
    connection.release();
  }
}

const me = `'${PEOPLE.premium.id}'`;
const newDay = `'${DAYS.firstOpen}'::date - 1000`;

const STATEMENTS: Record<string, string> = {
  'reading one old day': `select * from entries where date = '${DAYS.longAgo}'`,
  'reading one old day of a user': `select * from entries where user_id = ${me} and date = '${DAYS.longAgo}'`,
  'reading every day': 'select * from entries',
  'reading the dates of every day': 'select date from entry_dates order by date desc',
  'inserting a day': `insert into entries (user_id, date, content) values (${me}, ${newDay}, '<p>new</p>')`,
  'updating an old day': `update entries set content = '<p>new</p>' where date = '${DAYS.longAgo}'`,
  'deleting every day': 'delete from entries',
  'reading profiles': 'select * from profiles',
  'updating profiles': "update profiles set country = 'NL'",
  'reading the ledger': 'select * from plan_changes',
};

/** Calls that evaluate the caller or the plan, as they appear in a query plan. */
const CALLER_CALLS = /current_setting|uid\(|is_premium\(|first_free_day\(|latest_today\(/;

describe.skipIf(isPartitioned).each(Object.entries(STATEMENTS))('%s', (_what, statement) => {
  test('evaluates the caller and the plan once, not per row', async () => {
    const { plan } = await measureCosts(statement);
    expect(plan.filter((line) => CALLER_CALLS.test(line)).length, 'lines with such a call').toBeGreaterThan(0);
    // A call in a condition runs for every row; a reference to an InitPlan uses the result of one evaluation.
    expect(plan.filter((line) => /(Filter|Cond):/.test(line) && CALLER_CALLS.test(line))).toEqual([]);
    expect(plan.filter((line) => /SubPlan|Seq Scan/.test(line))).toEqual([]);
    for (const line of plan) if (line.includes('loops=')) expect(line).toMatch(/loops=1\)/);
  });

  test("reads only the user's own rows", async () => {
    const { rowsRead } = await measureCosts(statement);
    // An update reads the plan once to find the row and once to check the new one.
    expect(rowsRead['profiles']).toBeLessThanOrEqual(statement.startsWith('update') ? 2 : 1);
    expect(rowsRead['plan_changes']).toBeLessThanOrEqual(1);
    expect(rowsRead['entries']).toBeLessThanOrEqual(2 * Object.keys(DAYS).length);
  });
});

test.skipIf(isPartitioned)('reading a day outside the free window reads one entry and one profile', async () => {
  const { rowsRead } = await measureCosts(STATEMENTS['reading one old day']!);
  expect(rowsRead).toMatchObject({ entries: 1, profiles: 1 });
});
