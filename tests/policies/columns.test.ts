/**
 * Column grants of all public tables and views. A column of the database that is not listed here must not be writable,
 * so a grant on a new column fails the test until it is added here.
 */
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../support/set-up.ts';

import { runAs, DAYS, PEOPLE, REFUSED, resetFixtures } from './fixtures.ts';

const db = setUpTestDatabase();
beforeEach(async () => {
  await resetFixtures(db.admin);
  await db.admin.query(
    `insert into documents (user_id, title, first_day, last_day, content) values ($1, 'Q3', '2026-07-01', '2026-09-30', '')`,
    [PEOPLE.premium.id],
  );
});

/**
 * `writable`: columns that a signed-in user may insert and update. `insertable`: columns that a user may only insert.
 * `computed`: columns of a view that PostgreSQL refuses before it checks grants. `ignored`: columns that a user may
 * send without effect, because a trigger restores the server's values.
 */
const TABLES = {
  profiles: { writable: ['id', 'country', 'ai_consent'], ownRow: `id = '${PEOPLE.premium.id}'` },
  entries: {
    writable: ['user_id', 'date', 'content'],
    insertable: ['id'],
    ignored: ['updated_at', 'ai_feedback', 'hustle_score', 'ai_analyzed_at'],
    ownRow: `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.earliestToday}'`,
  },
  entry_dates: { writable: [], ownRow: 'true' },
  entry_versions: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  deleted_days: {
    writable: [],
    ownRow: 'true',
    // PostgreSQL checks whether a view can be updated before it checks grants, and one with `distinct on` cannot.
    refusal: '55000',
  },
  entry_words: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.earliestToday}'` },
  plan_changes: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  payments: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  payment_changes: { writable: [], ownRow: 'true' },
  payment_events: { writable: [], ownRow: 'true' },
  payment_ledger: { writable: [], ownRow: 'true' },
  plan_uses: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  analyses: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  analysis_runs: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  coach_reader: { writable: [], ownRow: 'true' },
  reviews: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  kept_reviews: { writable: [], ownRow: 'true', computed: ['entry_count', 'is_changed'] },
  import_days: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  preferences: {
    writable: [
      'user_id',
      'time_zone',
      'workdays',
      'remind_at',
      'remind_by_mail',
      'remind_by_push',
      'digest',
      'digest_review',
      'day_ends_at',
      'prompts',
    ],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  reminder_schedule: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  mail_tokens: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  appended_items: {
    writable: [],
    insertable: ['user_id', 'key', 'items_hash', 'date', 'revision'],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  access_tokens: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  connect_requests: { writable: [], ownRow: 'true' },
  push_subscriptions: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  slack_links: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  time_off: {
    writable: [],
    insertable: ['user_id', 'id', 'first_day', 'last_day'],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  plan_reminders: { writable: [], ownRow: `user_id = '${PEOPLE.premium.id}'` },
  documents: {
    writable: ['title', 'first_day', 'last_day', 'content'],
    insertable: ['user_id', 'id'],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
  document_links: {
    writable: [],
    insertable: ['user_id', 'document_id', 'review_id', 'token_hash', 'expires_at'],
    ownRow: `user_id = '${PEOPLE.premium.id}'`,
  },
};

/** The columns of each table in the database. */
async function readColumns(): Promise<Map<string, string[]>> {
  const { rows } = await db.admin.query<{ table: string; columns: string[] }>(`
    select table_name as table, json_agg(column_name order by ordinal_position) as columns
      from information_schema.columns
     where table_schema = 'public' and table_name not in (select relname from pg_class where relispartition) group by 1`);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

test('the list contains every table of the public schema, and no column that is not there', async () => {
  const found = await readColumns();
  expect([...found.keys()].toSorted()).toEqual(Object.keys(TABLES).toSorted());
  for (const [table, description] of Object.entries(TABLES)) {
    const listed = [...description.writable, ...ignoredColumns(description), ...insertableColumns(description)];
    expect(found.get(table)).toEqual(expect.arrayContaining(listed));
  }
});

function refusalOf(table: object, column: string): string {
  if ('computed' in table && (table.computed as string[]).includes(column)) return '0A000';
  return 'refusal' in table ? (table.refusal as string) : REFUSED;
}

const ignoredColumns = (table: object): string[] => ('ignored' in table ? (table.ignored as string[]) : []);

const insertableColumns = (table: object): string[] => ('insertable' in table ? (table.insertable as string[]) : []);

describe.each(Object.entries(TABLES))('%s', (table, description) => {
  const { writable, ownRow } = description;

  test('a premium user can write each column only with a grant', async () => {
    const columns = (await readColumns()).get(table)!;
    expect(columns).not.toEqual([]);
    for (const column of columns.filter((name) => !ignoredColumns(description).includes(name))) {
      const allowed = (writable as string[]).includes(column);
      // A granted column is set to itself, which is valid. PostgreSQL checks a missing grant before the value.
      const update = `update ${table} set ${column} = ${allowed ? column : 'default'} where ${ownRow}`;
      expect(await runAs(db.database, 'premium', update), column).toBe(allowed ? 1 : refusalOf(description, column));
      const insert = await runAs(db.database, 'premium', `insert into ${table} (${column}) values (default)`);
      if (allowed || insertableColumns(description).includes(column)) expect(insert, column).not.toBe(1);
      else expect(insert, column).toBe(refusalOf(description, column));
    }
  });

  test('a guest cannot write any column', async () => {
    for (const column of (await readColumns()).get(table)!) {
      const refusal = refusalOf(description, column);
      expect(await runAs(db.database, 'guest', `update ${table} set ${column} = default`), column).toBe(refusal);
      const insert = `insert into ${table} (${column}) values (default)`;
      expect(await runAs(db.database, 'guest', insert), column).toBe(refusal);
    }
  });
});

test('a premium user can use `select *` on profiles and `returning *` on entries', async () => {
  expect(await runAs(db.database, 'premium', 'select * from profiles')).toBe(1);
  const values = [PEOPLE.premium.id, DAYS.earliestToday];
  const update = "update entries set content = '<p>x</p>' where user_id = $1 and date = $2 returning *";
  expect(await runAs(db.database, 'premium', update, values)).toBe(1);
});

test('the service can write plan and feedback columns', async () => {
  const plan = "update profiles set subscription_plan = 'premium', access_valid_until = current_date where id = $1";
  expect(await runAs(db.database, 'service', plan, [PEOPLE.free.id])).toBe(1);
  const feedback =
    "update entries set ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = now() where user_id = $1";
  expect(await runAs(db.database, 'service', feedback, [PEOPLE.free.id])).toBe(Object.keys(DAYS).length);
});

describe('the server-owned columns of entries', () => {
  const { ownRow } = TABLES.entries;
  const SERVER_COLUMNS = TABLES.entries.ignored.join(', ');
  const FORGED = "'2099-01-01', 'Perfect.', 10, '2099-01-01'";
  const ANALYSED = `ai_feedback = 'Good.', hustle_score = 7, ai_analyzed_at = updated_at + interval '1 hour'`;
  type ServerColumns = {
    updated_at: Date;
    ai_feedback: string | null;
    hustle_score: number | null;
    ai_analyzed_at: Date | null;
  };
  const readServerColumns = async (where = ownRow): Promise<ServerColumns> =>
    (await db.admin.query<ServerColumns>(`select ${SERVER_COLUMNS} from entries where ${where}`)).rows[0]!;
  const NO_FEEDBACK = { ai_feedback: null, hustle_score: null, ai_analyzed_at: null };
  const newDay = `user_id = '${PEOPLE.premium.id}' and date = '${DAYS.longAgo}'`;
  const newRow = `'${PEOPLE.premium.id}', '${DAYS.longAgo}', '<p>x</p>'`;
  const oldRow = `'${PEOPLE.premium.id}', '${DAYS.earliestToday}', '<p>x</p>'`;

  test('keep their values when a premium user updates them, singly, together, to default or to null', async () => {
    expect(await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`)).toBe(1);
    const before = await readServerColumns();
    expect(before).toMatchObject({ ai_feedback: 'Good.', hustle_score: 7 });
    const forgeries = [
      ...FORGED.split(', ').map((value, index) => `${TABLES.entries.ignored[index]} = ${value}`),
      ...TABLES.entries.ignored.map((column) => `${column} = default`),
      ...TABLES.entries.ignored.map((column) => `${column} = null`),
      `(${SERVER_COLUMNS}) = (${FORGED})`,
      'hustle_score = 99',
    ];
    for (const forgery of forgeries) {
      expect(await runAs(db.database, 'premium', `update entries set ${forgery} where ${ownRow}`)).toBe(1);
      expect(await readServerColumns()).toEqual(before);
    }
  });

  test("get the server's values when a premium user inserts them", async () => {
    await db.admin.query(`delete from entries where ${newDay}`);
    const { rows } = await db.admin.query<{ now: Date }>('select clock_timestamp() as now');
    const insert = `insert into entries (user_id, date, content, ${SERVER_COLUMNS}) values (${newRow}, ${FORGED})`;
    expect(await runAs(db.database, 'premium', insert)).toBe(1);
    const { updated_at, ...feedback } = await readServerColumns(newDay);
    expect(feedback).toEqual(NO_FEEDBACK);
    expect(updated_at.getTime()).toBeGreaterThanOrEqual(rows[0]!.now.getTime());
    expect(updated_at.getFullYear()).toBeLessThan(2099);
    await db.admin.query(`delete from entries where ${newDay}`);
    const insertNulls = `insert into entries (user_id, date, content, ${SERVER_COLUMNS}) values (${newRow}, null, null, 99, null)`;
    expect(await runAs(db.database, 'premium', insertNulls)).toBe(1);
    expect(await readServerColumns(newDay)).toMatchObject(NO_FEEDBACK);
  });

  test('keep their values in an upsert by a premium user, except updated_at for new content', async () => {
    await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`);
    const before = await readServerColumns();
    const conflict = `on conflict (user_id, date) do update set content = excluded.content,
      (${SERVER_COLUMNS}) = (${TABLES.entries.ignored.map((column) => `excluded.${column}`).join(', ')})`;
    const upsert = `insert into entries (user_id, date, content, ${SERVER_COLUMNS}) values (${oldRow}, ${FORGED}) ${conflict}`;
    expect(await runAs(db.database, 'premium', upsert)).toBe(1);
    const changed = await readServerColumns();
    expect(changed).toEqual({ ...before, updated_at: expect.any(Date) });
    expect(changed.updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
    expect(changed.updated_at.getFullYear()).toBeLessThan(2099);
    expect(await runAs(db.database, 'premium', upsert)).toBe(1);
    expect(await readServerColumns()).toEqual(changed);
  });

  test("cannot be written by a guest, nor in another user's row", async () => {
    const forge = `update entries set (${SERVER_COLUMNS}) = (${FORGED})`;
    expect(await runAs(db.database, 'guest', `${forge} where ${ownRow}`)).toBe(REFUSED);
    expect(await runAs(db.database, 'free', `${forge} where ${ownRow}`)).toBe(0);
  });

  test('are cleared when a premium user empties the log, also if sent along', async () => {
    await runAs(db.database, 'service', `update entries set ${ANALYSED} where ${ownRow}`);
    const emptied = `update entries set content = '', (${SERVER_COLUMNS}) = (${FORGED}) where ${ownRow}`;
    expect(await runAs(db.database, 'premium', emptied)).toBe(1);
    expect(await readServerColumns()).toMatchObject(NO_FEEDBACK);
  });
});
