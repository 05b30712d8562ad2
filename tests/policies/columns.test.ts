/** Which columns a client may write. The tables themselves are asked, so a new column is refused until it stands here. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

import { attempt, DAYS, PEOPLE, REFUSED, settle } from './people.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => settle(db.admin));
afterAll(() => db.drop());

/** All columns of the public tables, and those of them that a signed-in client may write. */
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
    ownRow: `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.earliestToday}'`,
  },
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

describe.each(Object.entries(TABLES))('%s', (table, { columns, writable, ownRow }) => {
  test.each(columns)('%s is written by its owner only where that is granted', async (column) => {
    const allowed = (writable as string[]).includes(column);
    // Where it is allowed, set to itself, which is valid. Elsewhere the grant is asked before the value is.
    const update = `update ${table} set ${column} = ${allowed ? column : 'default'} where ${ownRow}`;
    expect(await attempt(db.database, 'premium', update)).toBe(allowed ? 1 : REFUSED);
    const insert = await attempt(db.database, 'premium', `insert into ${table} (${column}) values (default)`);
    if (allowed) expect(insert).not.toBe(1);
    else expect(insert).toBe(REFUSED);
  });

  test.each(columns)('%s is written by no guest', async (column) => {
    expect(await attempt(db.database, 'guest', `update ${table} set ${column} = default`)).toBe(REFUSED);
    expect(await attempt(db.database, 'guest', `insert into ${table} (${column}) values (default)`)).toBe(REFUSED);
  });
});

test('`select *` and `returning *` work in spite of the grants', async () => {
  expect(await attempt(db.database, 'premium', 'select * from profiles')).toBe(1);
  const values = [PEOPLE.premium.id, DAYS.earliestToday];
  const update = "update entries set content = '<p>x</p>' where user_id = $1 and date = $2 returning *";
  expect(await attempt(db.database, 'premium', update, values)).toBe(1);
});

test('the service writes what clients may not', async () => {
  const plan = "update profiles set subscription_plan = 'premium', access_valid_until = current_date where id = $1";
  expect(await attempt(db.database, 'service', plan, [PEOPLE.free.id])).toBe(1);
  const feedback =
    "update entries set ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now() where user_id = $1";
  expect(await attempt(db.database, 'service', feedback, [PEOPLE.free.id])).toBe(Object.keys(DAYS).length);
});
