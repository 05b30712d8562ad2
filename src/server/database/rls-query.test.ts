/** Statements on one connection, one after the other and many at once: nothing of one may reach the next. */
import { randomUUID } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createTestDatabase } from '../../../tests/support/test-database.ts';
import type { TestDatabase } from '../../../tests/support/test-database.ts';

import { requestConnection } from './roles.ts';
import { RlsQuery } from './rls-query.ts';
import type { ActingAs } from './rls-query.ts';
import { valueTypes } from './value-types.ts';

let db: TestDatabase;
let client: pg.Client;
const types = valueTypes();

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** A connection as the server's pool has them, here alone, so that every statement follows on the one before. */
beforeEach(async () => {
  client = new pg.Client(requestConnection(db.url));
  await client.connect();
  return () => client.end();
});

const user = (sub = randomUUID()): ActingAs => ({ role: 'authenticated', claimsJson: JSON.stringify({ sub }) });
const guest: ActingAs = { role: 'anon', claimsJson: '{}' };
const service: ActingAs = { role: 'service_role', claimsJson: '{}' };

const run = async (actingAs: ActingAs, text: string, values: readonly unknown[] = []) =>
  client.query(new RlsQuery(actingAs, text, values, types)).done;
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
  );

const WHO = "select current_user::text as role, nullif(current_setting('request.jwt.claims', true), '') as claims";
const namesOnServer = async () => {
  const { rows } = await client.query<{ name: string }>('select name from pg_prepared_statements order by 1');
  return rows.map(({ name }) => name);
};

describe('the answer', () => {
  test('has the rows with their types, and how many there are', async () => {
    const text =
      "select $1::date as day, 5::bigint as many, '2026-01-01T00:00:00Z'::timestamptz as at, $2::jsonb as json";
    expect(await run(user(), text, ['2026-11-21', { a: [1] }])).toEqual({
      rows: [{ day: '2026-11-21', many: 5, at: new Date('2026-01-01T00:00:00Z'), json: { a: [1] } }],
      rowCount: 1,
    });
  });

  test('is empty where nothing is found, and counts rows that are written without being answered', async () => {
    expect(await run(user(), 'select 1 as one where false')).toEqual({ rows: [], rowCount: 0 });
    const add = 'insert into auth.users (email) select $1 || n || $2 from generate_series(1, 3) n';
    expect(await run(service, add, ['a', '@example.com'])).toEqual({ rows: [], rowCount: 3 });
  });

  test('comes once the transaction is committed: a constraint that is checked last refuses the statement', async () => {
    await db.admin.query(`
      create table public.deferred (n int, constraint only_one unique (n) deferrable initially deferred);
      grant all on public.deferred to service_role`);
    expect(await codeOf(run(service, 'insert into public.deferred select 1 from generate_series(1, 2)'))).toBe('23505');
    expect((await run(service, 'select * from public.deferred')).rows).toEqual([]);
  });
});

describe('role and claims', () => {
  test('are those of the statement, and are gone after it', async () => {
    const someone = user();
    expect((await run(someone, WHO)).rows).toEqual([{ role: 'authenticated', claims: someone.claimsJson }]);
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
    const { user: login } = requestConnection(db.url);
    expect((await client.query(WHO)).rows).toEqual([{ role: login, claims: null }]);
  });

  test('are gone after a statement that failed', async () => {
    const { user: login } = requestConnection(db.url);
    expect(await codeOf(run(user(), 'select 1 / $1::int', [0]))).toBe('22012');
    expect((await client.query(WHO)).rows).toEqual([{ role: login, claims: null }]);
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });

  test('cannot be a role that the login has not been given', async () => {
    const owner = { role: 'hustle_forge', claimsJson: '{}' } as unknown as ActingAs;
    expect(await codeOf(run(owner, WHO))).toBe('42501');
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });

  test('cannot be changed for the statements that follow', async () => {
    await run(user(), 'select set_config(\'request.jwt.claims\', \'{"sub":"intruder"}\', true)');
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });
});

describe('a statement after an error on the same connection', () => {
  test('works when the text could not be parsed, and so does the same text once it can', async () => {
    const text = 'select n from public.comes_later';
    expect(await codeOf(run(service, text))).toBe('42P01');
    await db.admin.query('create table public.comes_later (n int); grant select on public.comes_later to service_role');
    expect((await run(service, text)).rows).toEqual([]);
  });

  test('works when the same insert was refused before', async () => {
    const text = 'insert into auth.users (email) values ($1)';
    await run(service, text, ['twice@example.com']);
    expect(await codeOf(run(service, text, ['twice@example.com']))).toBe('23505');
    expect(await codeOf(run(service, text, ['twice@example.com']))).toBe('23505');
    expect((await run(service, text, ['once@example.com'])).rowCount).toBe(1);
  });

  test('works when the first insert of a connection was refused', async () => {
    const text = 'insert into auth.users (email) values ($1) returning email';
    expect(await codeOf(run(service, text, ['UPPER@example.com']))).toBe('23514');
    expect((await run(service, text, ['lower@example.com'])).rows).toEqual([{ email: 'lower@example.com' }]);
  });

  test('works when a value could not be sent at all', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    await expect(run(user(), 'select $1::jsonb', [circular])).rejects.toThrow(TypeError);
    expect((await run(guest, WHO)).rows).toHaveLength(1);
  });

  test('works when a value had a null byte or half a surrogate pair', async () => {
    expect(await codeOf(run(user(), 'select $1::text as it', ['a\0b']))).toBe('22021');
    expect((await run(user(), 'select $1::text as it', ['\ud800'])).rows).toEqual([{ it: '\ufffd' }]);
  });
});

describe('prepared statements', () => {
  test('are made once for a text and a role', async () => {
    for (let i = 0; i < 3; i += 1) await run(user(), WHO);
    expect(await namesOnServer()).toEqual(['act_as', 's1']);
    await run(guest, WHO);
    expect(await namesOnServer()).toEqual(['act_as', 's1', 's2']);
  });

  test('stay bounded, however many texts there are, and keep the ones in use', async () => {
    for (let i = 0; i < 250; i += 1) {
      await run(user(), `select ${i} as i`);
      await run(user(), WHO);
    }
    const names = await namesOnServer();
    expect(names.length).toBeLessThanOrEqual(101);
    expect(names).toContain('s2');
  });
});

describe('many at once', () => {
  test('each sees its own claims and its own rows, while others fail', async () => {
    const jobs = Array.from({ length: 300 }, async (_, i) => {
      const sub = randomUUID();
      const asUser = db.database.asUser({ role: 'authenticated', claimsJson: JSON.stringify({ sub }) });
      if (i % 7 === 0) return expect(await codeOf(asUser.statement('select 1 / $1::int', [0]))).toBe('22012');
      const { rows } = await asUser.statement('select auth.uid() as uid, $1::int as i', [i]);
      return expect(rows).toEqual([{ uid: sub, i }]);
    });
    await Promise.all(jobs);
  });

  test('a transaction keeps its identity to itself, commits as a whole and rolls back as a whole', async () => {
    const add = (email: string) => `insert into auth.users (email) values ('${email}')`;
    await Promise.all([
      db.database.transactAsService('test', async (transaction) => {
        await transaction.statement(add('whole-1@example.com'), []);
        await transaction.statement(add('whole-2@example.com'), []);
      }),
      expect(
        db.database.transactAsService('test', async (transaction) => {
          await transaction.statement(add('half-1@example.com'), []);
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow('changed my mind'),
      db.database.transactAsUser({ role: 'anon', claimsJson: '{}' }, async (transaction) => {
        expect((await transaction.statement(WHO, [])).rows).toEqual([{ role: 'anon', claims: '{}' }]);
      }),
    ]);
    const { rows } = await db.admin.query("select email from auth.users where email ~ 'whole|half' order by 1");
    expect(rows).toEqual([{ email: 'whole-1@example.com' }, { email: 'whole-2@example.com' }]);
  });
});

test('a connection whose statements no longer fit the tables is replaced', async () => {
  await db.admin.query('create table public.grows (a int); grant select on public.grows to service_role');
  const all = () => db.database.asService('test').statement('select * from public.grows', []);
  await all();
  await db.admin.query('alter table public.grows add b int');
  expect(await codeOf(all())).toBe('0A000');
  expect((await all()).rows).toEqual([]);
});
