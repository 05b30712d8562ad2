/**
 * Which columns a client may write, and which it may only send. The tables themselves are asked, so a new column is refused
 * until it stands here.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

import { runAs, DAYS, PEOPLE, REFUSED, resetFixtures } from './fixtures.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => resetFixtures(db.admin));
afterAll(() => db.drop());

/** All columns of the public tables, those of them that a signed-in client may write, and those it may send in vain. */
const TABLES = {
  profiles: {
    columns: ['id', 'country', 'subscription_plan', 'access_valid_until', 'ai_consent', 'created_at', 'updated_at'],
    writable: ['id', 'country', 'ai_consent'],
    ownRow: `id = '${PEOPLE.premium.id}'`,
  },
  entries: {
    columns: [
      ...['user_id', 'date', 'id', 'content', 'content_text', 'revision', 'created_at', 'updated_at'],
      ...['ai_feedback', 'hustle_score', 'ai_analyzed_at'],
    ],
    writable: ['user_id', 'date', 'content'],
    kept: ['updated_at', 'ai_feedback', 'hustle_score', 'ai_analyzed_at'],
    ownRow: `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.earliestToday}'`,
  },
  entry_dates: { columns: ['user_id', 'date'], writable: [], ownRow: 'true' },
  entry_words: {
    columns: ['user_id', 'date', 'revision', 'words'],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.earliestToday}'`,
  },
  plan_changes: {
    columns: ['user_id', 'id', 'plan', 'access_valid_until', 'reason', 'changed_at', 'payment_id', 'valid_from'],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  payments: {
    columns: [
      ...['id', 'user_id', 'provider', 'order_id', 'capture_id', 'amount_minor', 'currency', 'country', 'status'],
      ...['lease_until', 'due_at', 'refused_captures', 'refund_requested_at', 'approval_url', 'debug_id'],
      ...['created_at', 'updated_at', 'completed_at', 'receipt_mailed_at', 'mail_due_at'],
    ],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  payment_changes: { columns: ['payment_id', 'id', 'status', 'changed_at'], writable: [], ownRow: 'true' },
  payment_events: {
    columns: ['id', 'type', 'raw', 'received_at', 'processed_at'],
    writable: [],
    ownRow: 'true',
  },
  payment_ledger: {
    columns: ['payment_id', 'id', 'kind', 'amount_minor', 'currency', 'provider_ref', 'booked_at'],
    writable: [],
    ownRow: 'true',
  },
  plan_uses: {
    columns: ['user_id', 'id', 'kind', 'used_at'],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  analyses: {
    columns: [
      ...['user_id', 'id', 'kind', 'date', 'period_from', 'period_to', 'input_hash', 'provider', 'model'],
      ...['model_version', 'prompt_version', 'finish_reason', 'input_tokens', 'output_tokens', 'duration_ms'],
      ...['score', 'text', 'cited', 'missing_fact', 'created_at', 'cited_refs'],
    ],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  analysis_runs: {
    columns: ['user_id', 'kind', 'key', 'run', 'lease_until', 'counted_on', 'tries'],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  coach_reader: { columns: ['only_one', 'name', 'since'], writable: [], ownRow: 'true' },
  plan_reminders: {
    columns: ['user_id', 'access_valid_until', 'days_before', 'mailed_at'],
    writable: [],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
};

test('these are all tables and all columns that clients can reach', async () => {
  const { rows } = await db.admin.query<{ table: string; columns: string[] }>(`
    select table_name as table, json_agg(column_name order by ordinal_position) as columns
      from information_schema.columns where table_schema = 'public' group by 1`);
  expect(Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))).toEqual(
    Object.fromEntries(Object.entries(TABLES).map(([table, { columns }]) => [table, columns])),
  );
});

const keptOf = (table: object): string[] => ('kept' in table ? (table.kept as string[]) : []);

describe.each(Object.entries(TABLES))('%s', (table, description) => {
  const { columns, writable, ownRow } = description;
  test.each(columns.filter((column) => !keptOf(description).includes(column)))(
    '%s is written by its owner only where that is granted',
    async (column) => {
      const allowed = (writable as string[]).includes(column);
      // Where it is allowed, set to itself, which is valid. Elsewhere the grant is asked before the value is.
      const update = `update ${table} set ${column} = ${allowed ? column : 'default'} where ${ownRow}`;
      expect(await runAs(db.database, 'premium', update)).toBe(allowed ? 1 : REFUSED);
      const insert = await runAs(db.database, 'premium', `insert into ${table} (${column}) values (default)`);
      if (allowed) expect(insert).not.toBe(1);
      else expect(insert).toBe(REFUSED);
    },
  );

  test.each(columns)('%s is written by no guest', async (column) => {
    expect(await runAs(db.database, 'guest', `update ${table} set ${column} = default`)).toBe(REFUSED);
    expect(await runAs(db.database, 'guest', `insert into ${table} (${column}) values (default)`)).toBe(REFUSED);
  });
});

test('`select *` and `returning *` work in spite of the grants', async () => {
  expect(await runAs(db.database, 'premium', 'select * from profiles')).toBe(1);
  const values = [PEOPLE.premium.id, DAYS.earliestToday];
  const update = "update entries set content = '<p>x</p>' where user_id = $1 and date = $2 returning *";
  expect(await runAs(db.database, 'premium', update, values)).toBe(1);
});

test('the service writes what clients may not', async () => {
  const plan = "update profiles set subscription_plan = 'premium', access_valid_until = current_date where id = $1";
  expect(await runAs(db.database, 'service', plan, [PEOPLE.free.id])).toBe(1);
  const feedback =
    "update entries set ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now() where user_id = $1";
  expect(await runAs(db.database, 'service', feedback, [PEOPLE.free.id])).toBe(Object.keys(DAYS).length);
});

describe('the columns of a log that the server keeps', () => {
  const { ownRow } = TABLES.entries;
  const KEPT = TABLES.entries.kept.join(', ');
  const FORGED = "'2099-01-01', 'Perfect.', 10, '2099-01-01'";
  const ANALYSED = `ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = updated_at + interval '1 hour'`;
  type Kept = {
    updated_at: Date;
    ai_feedback: string | null;
    hustle_score: number | null;
    ai_analyzed_at: Date | null;
  };
  const kept = async (where = ownRow): Promise<Kept> =>
    (await db.admin.query<Kept>(`select ${KEPT} from entries where ${where}`)).rows[0]!;
  const NONE = { ai_feedback: null, hustle_score: null, ai_analyzed_at: null };
  const newDay = `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.longAgo}'`;
  const newRow = `'${PEOPLE.premium.id}', '${DAYS.longAgo}', '<p>x</p>'`;
  const oldRow = `'${PEOPLE.premium.id}', '${DAYS.earliestToday}', '<p>x</p>'`;

  test('stay as they are when their owner sends others, one by one, all at once and as nothing', async () => {
    expect(await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`)).toBe(1);
    const before = await kept();
    expect(before).toMatchObject({ ai_feedback: 'Good.', hustle_score: 7 });
    const forgeries = [
      ...FORGED.split(', ').map((value, index) => `${TABLES.entries.kept[index]} = ${value}`),
      ...TABLES.entries.kept.map((column) => `${column} = default`),
      ...TABLES.entries.kept.map((column) => `${column} = null`),
      `(${KEPT}) = (${FORGED})`,
      'hustle_score = 99',
    ];
    for (const forgery of forgeries) {
      expect(await runAs(db.database, 'premium', `update entries set ${forgery} where ${ownRow}`)).toBe(1);
      expect(await kept()).toEqual(before);
    }
  });

  test('begin as the server begins them', async () => {
    await db.admin.query(`delete from entries where ${newDay}`);
    const { rows } = await db.admin.query<{ now: Date }>('select clock_timestamp() as now');
    const insert = `insert into entries (user_id, date, content, ${KEPT}) values (${newRow}, ${FORGED})`;
    expect(await runAs(db.database, 'premium', insert)).toBe(1);
    const { updated_at, ...begun } = await kept(newDay);
    expect(begun).toEqual(NONE);
    expect(updated_at.getTime()).toBeGreaterThanOrEqual(rows[0]!.now.getTime());
    expect(updated_at.getFullYear()).toBeLessThan(2099);
    await db.admin.query(`delete from entries where ${newDay}`);
    const ofNothing = `insert into entries (user_id, date, content, ${KEPT}) values (${newRow}, null, null, 99, null)`;
    expect(await runAs(db.database, 'premium', ofNothing)).toBe(1);
    expect(await kept(newDay)).toMatchObject(NONE);
  });

  test('stay through an upsert, which renews the time of change for new words alone', async () => {
    await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`);
    const before = await kept();
    const conflict = `on conflict (user_id, date) do update set content = excluded.content,
      (${KEPT}) = (${TABLES.entries.kept.map((column) => `excluded.${column}`).join(', ')})`;
    const upsert = `insert into entries (user_id, date, content, ${KEPT}) values (${oldRow}, ${FORGED}) ${conflict}`;
    expect(await runAs(db.database, 'premium', upsert)).toBe(1);
    const changed = await kept();
    expect(changed).toEqual({ ...before, updated_at: expect.any(Date) });
    expect(changed.updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
    expect(changed.updated_at.getFullYear()).toBeLessThan(2099);
    expect(await runAs(db.database, 'premium', upsert)).toBe(1);
    expect(await kept()).toEqual(changed);
  });

  test("are written by no guest and in nobody else's row", async () => {
    const forge = `update entries set (${KEPT}) = (${FORGED})`;
    expect(await runAs(db.database, 'guest', `${forge} where ${ownRow}`)).toBe(REFUSED);
    expect(await runAs(db.database, 'free', `${forge} where ${ownRow}`)).toBe(0);
  });

  test('go with the last word of a log, also when they are sent along', async () => {
    await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`);
    const emptied = `update entries set content = '', (${KEPT}) = (${FORGED}) where ${ownRow}`;
    expect(await runAs(db.database, 'premium', emptied)).toBe(1);
    expect(await kept()).toMatchObject(NONE);
  });
});
