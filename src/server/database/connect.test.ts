/**
 * Tests `openDatabase` with an external PostgreSQL server (DATABASE_URL): an owner that is not a superuser can use it,
 * and unsuitable servers are rejected.
 */
import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../../../tests/support/set-up.ts';

import { deleteAccount } from '#server/auth/own-account/delete-account.ts';
import { startJobQueue } from '#server/jobs/job-queue.ts';
import { createLog } from '#server/log.ts';
import { Secret } from '#server/config/settings-reader.ts';

import { openDatabase } from './connect.ts';
import { READ_IDENTITY } from './connection/inspect-pooler.ts';

const server = setUpTestDatabase();
let url: string;
let owner: string;

/** Creates an empty database with its own owner, as a hosted service does. */
beforeEach(async () => {
  owner = `owner_${randomBytes(6).toString('hex')}`;
  await server.admin.query(`create role ${owner} login createrole bypassrls password 'geheim'`);
  await server.admin.query(`grant anon, authenticated, service_role to ${owner} with admin option`);
  await server.admin.query(`create database ${owner} owner ${owner}`);
  url = server.url.replace(/\/\/[^@]*@\/\w+/, `//${owner}:geheim@/${owner}`);
  return async () => {
    await server.admin.query(`drop database ${owner} with (force)`);
    await server.admin
      .query(`drop role ${owner}_requests, ${owner}`)
      .catch(() => server.admin.query(`drop role ${owner}`));
  };
});

const open = (databaseUrl = url) =>
  openDatabase({ config: { databaseUrl: new Secret(databaseUrl), dataDir: '' }, log: createLog('silent') });

async function asOwner(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

test('migrates and creates a profile for each user when the owner is not a superuser', async () => {
  const database = await open();
  expect(await database.isReady()).toBe(true);
  const service = database.asService('test');
  const { rows } = await service.statement<{ id: string }>(
    "insert into auth.users (email) values ('a@example.com') returning id",
    [],
  );
  expect((await service.statement('select id from profiles', [])).rows).toEqual(rows);
  await database.close();
});

test.each([
  ['a wrong password', (address: string) => address.replace('geheim', 'wrong'), 'password authentication failed'],
  [
    'a database that does not exist',
    (address: string) => address.replace(/\/owner_\w+\?/, '/none?'),
    '"none" does not',
  ],
  ['a port where nothing listens', () => 'postgres://me:x@127.0.0.1:1/none', 'connect ECONNREFUSED 127.0.0.1:1'],
])('names DATABASE_URL and the doctor after %s', async (_what, change, reason) => {
  const failure = await open(change(url)).catch((error: Error) => error.message);
  expect(failure).toMatch(/^DATABASE_URL cannot be used: .*\. "npm run doctor" says how to fix it$/);
  expect(failure).toContain(reason);
});

describe('analyses, when the owner is subject to row-level security', () => {
  const USER = '00000000-0000-4000-8000-000000000001';
  const ANALYSIS = 'input_hash, provider, model, prompt_version, finish_reason, duration_ms, text';
  const ADD_FEEDBACK = `
    update entries set ai_feedback = 'Good work.', hustle_score = 7, ai_analyzed_at = now();
    insert into analyses (user_id, kind, date, score, ${ANALYSIS})
      select user_id, 'feedback', date, 7, 'hash', 'google', 'gemini', 1, 'stop', 5, 'Good work.' from entries;
    insert into analyses (user_id, kind, period_from, period_to, ${ANALYSIS})
      select '${USER}', 'trend', day::date, day::date + 6, 'hash', 'google', 'gemini', 1, 'stop', 5, 'Good work.'
        from unnest(array['2026-11-01', '2026-11-11']) day`;

  let admin: pg.Client;
  beforeEach(async () => {
    await server.admin.query(`alter role ${owner} nobypassrls`);
    await (await open()).close();
    admin = new pg.Client(server.url.replace(/\/\w+\?/, `/${owner}?`));
    await admin.connect();
    await admin.query(`insert into auth.users (id) values ('${USER}')`);
    return () => admin.end();
  });

  const addLogs = (...logs: [date: string, content: string][]) =>
    admin.query(
      `insert into entries (user_id, date, content)
         select '${USER}', (log ->> 0)::date, log ->> 1 from json_array_elements($1::json) log`,
      [JSON.stringify(logs)],
    );
  const readFeedback = async (): Promise<unknown> =>
    (
      await admin.query(
        `select (select json_agg(ai_feedback order by date) from entries) as days,
                (select json_agg(coalesce(date, period_from) order by kind, period_from) from analyses) as analyses`,
      )
    ).rows[0];

  test.each([
    ['deleted', "delete from entries where date = '2026-11-02'", ['Good work.']],
    ['emptied', "update entries set content = '' where date = '2026-11-02'", [null, 'Good work.']],
  ])('are deleted with a day that is %s', async (_what, statement, days) => {
    await addLogs(['2026-11-02', '<p>a</p>'], ['2026-11-12', '<p>b</p>']);
    await admin.query(ADD_FEEDBACK);
    const database = await open();
    await database.asService('test').statement(statement, []);
    expect(await readFeedback()).toEqual({ days, analyses: ['2026-11-12', '2026-11-11'] });
    await database.close();
  });
});

test('shows users the dates of their own logs when the owner is subject to row-level security', async () => {
  await server.admin.query(`alter role ${owner} nobypassrls`);
  const database = await open();
  const [mine, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  const admin = new pg.Client(server.url.replace(/\/\w+\?/, `/${owner}?`));
  await admin.connect();
  await admin.query(`insert into auth.users (id) values ('${mine}'), ('${other}')`);
  await admin.query("insert into entries (user_id, date, content) select id, '2001-01-01', '<p>a</p>' from auth.users");
  await admin.end();
  const user = database.asUser({ role: 'authenticated', claimsJson: JSON.stringify({ sub: mine }) });
  expect((await user.statement('select * from entry_dates', [])).rows).toEqual([{ user_id: mine, date: '2001-01-01' }]);
  await database.close();
});

test('erases the user of the ledgers when the owner is subject to row-level security', async () => {
  await server.admin.query(`alter role ${owner} nobypassrls`);
  const database = await open();
  const service = database.asService('test');
  const deletedUser = '00000000-0000-4000-8000-000000000001';
  await service.statement('insert into auth.users (id) values ($1)', [deletedUser]);
  const pay = "insert into payments (user_id, amount_minor, currency, country) values ($1, 2400, 'USD', 'DE')";
  await service.statement(pay, [deletedUser]);
  await service.statement("insert into plan_uses (user_id, kind) values ($1, 'export')", [deletedUser]);
  expect(await deleteAccount(database, { userId: deletedUser, actor: 'job', now: new Date() })).not.toBeNull();
  const { rows } = await service.statement<{ same: boolean; country: string | null; uses: number }>(
    `select user_id = $1 as same, country, (select count(*)::int from plan_uses where user_id = payments.user_id) as uses
       from payments`,
    [deletedUser],
  );
  expect(rows).toEqual([{ same: false, country: null, uses: 1 }]);
  // Only the function `erase_payer` may replace a payer. Row-level security hides the payments from the owner of the
  // tables, so the first statement changes no row. A trigger refuses the second.
  await expect(asOwner('update payments set user_id = gen_random_uuid()')).resolves.toBeUndefined();
  await expect(asOwner("update plan_uses set kind = 'analysis'")).rejects.toMatchObject({ code: '23001' });
  await database.close();
});

test('installs the job queue for two servers that start concurrently, without a superuser', async () => {
  const databases = await Promise.all([open(), open()]);
  const queues = await Promise.all(
    databases.map((database) => startJobQueue({ database, log: createLog('silent'), jobs: [] })),
  );
  for (const queue of queues) await queue.stop();
  for (const database of databases) await database.close();
});

test('opens one database for two servers concurrently, and again later', async () => {
  const databases = await Promise.all([open(), open()]);
  for (const database of databases) {
    expect(await database.isReady()).toBe(true);
    await database.close();
  }
  await (await open()).close();
});

test('rejects a database that a newer program has contracted', async () => {
  await (await open()).close();
  await asOwner("insert into migrations.applied values ('app', 9999, 'from_the_future', 'x', now(), 'contract')");
  await expect(open()).rejects.toThrow('newer than this program: it has app/9999_from_the_future');
});

test('rejects a migration that changed after it was applied', async () => {
  await (await open()).close();
  await asOwner("update migrations.applied set checksum = 'other' where set = 'app'");
  await expect(open()).rejects.toThrow('app/0039_baseline was changed');
});

test('reports a database as not ready once a newer program has contracted it', async () => {
  const database = await open();
  await asOwner("insert into migrations.applied values ('app', 9999, 'from_the_future', 'x', now(), 'contract')");
  expect(await database.isReady()).toBe(false);
  await database.close();
});

test('the identity of a database does not depend on the time zone of the session', async () => {
  const readIn = async (zone: string): Promise<unknown> => {
    const client = new pg.Client({ connectionString: url, options: `-c timezone=${zone}` });
    await client.connect();
    const { rows } = await client.query(READ_IDENTITY);
    await client.end();
    return rows;
  };
  expect(await readIn('Asia/Tokyo')).toEqual(await readIn('UTC'));
});

test.each(['superuser', 'bypassrls', 'createrole'])('rejects a request login with %s', async (right) => {
  await (await open()).close();
  await server.admin.query(`alter role ${owner}_requests ${right}`);
  await expect(open()).rejects.toThrow('too privileged');
});

describe('the time-outs of requests', () => {
  const TIMEOUTS = `select name, setting from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`;
  const inSession = async (): Promise<unknown> => {
    const database = await open();
    const { rows } = await database.asService('test').statement(TIMEOUTS, []);
    await database.close();
    return rows;
  };
  const idle = { name: 'idle_in_transaction_session_timeout', setting: '10000' };

  test('are set on the request login, also on one of an earlier release', async () => {
    await (await open()).close();
    await server.admin.query(`alter role ${owner}_requests reset all`);
    await server.admin.query(`alter role ${owner} nocreaterole`);
    expect(await inSession()).toEqual([idle, { name: 'statement_timeout', setting: '15000' }]);
  });

  test('keep the value that the operator has set', async () => {
    await (await open()).close();
    await server.admin.query(`alter role ${owner}_requests reset all`);
    await server.admin.query(`alter role ${owner}_requests set statement_timeout = '40s'`);
    expect(await inSession()).toEqual([idle, { name: 'statement_timeout', setting: '40000' }]);
  });

  test('stop the start if they cannot be set, with an error that has the statements to run', async () => {
    await (await open()).close();
    await server.admin.query(`alter role ${owner}_requests reset all`);
    await server.admin.query(`alter role ${owner}_requests set default_transaction_read_only = on`);
    await expect(open()).rejects.toThrow(`alter role "${owner}_requests" set statement_timeout = '15s';`);
  });
});

test('rejects an owner without createrole', async () => {
  await server.admin.query(`alter role ${owner} nocreaterole`);
  await expect(open()).rejects.toThrow('lacks the right to create the request roles');
});

test('rejects a URL without a password or with a wrong one, without revealing it', async () => {
  await expect(open(url.replace(':geheim', ''))).rejects.toThrow('DATABASE_URL must name a user and a password');
  await expect(open(url.replace('geheim', 'falsch'))).rejects.toThrow(/^(?!.*falsch).*password authentication failed/);
});
