/** Tests that queries on a shared connection, sequential and concurrent, do not see each other's identity. */
import { randomUUID } from 'node:crypto';

import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';

import { setUpTestDatabase } from '../../../tests/support/set-up.ts';

import { requestConnection } from './roles.ts';
import { ForeignAnswerError, RlsQuery, type ActingAs } from './rls-query.ts';
import { valueTypes } from './tables.ts';

const db = setUpTestDatabase();
let client: pg.Client;
const types = valueTypes();

/** A single connection like the pool's, so all queries share it. */
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

describe('the answer of another query', () => {
  const answer = (query: RlsQuery, fields: unknown[]): void => {
    query.handleDataRow({ fields });
    query.handleCommandComplete({ text: 'SELECT 1' });
  };
  const rejects = (query: RlsQuery) => expect(query.done).rejects.toThrow(ForeignAnswerError);

  test('is rejected', async () => {
    const query = new RlsQuery(user(), 'select 1', [], types);
    answer(query, ['f', 'f', 'token of another query']);
    query.handleRowDescription({ fields: [] });
    answer(query, []);
    query.handleReadyForQuery();
    await rejects(query);
  });

  test('is rejected if it comes from a simple query or is empty', async () => {
    for (const commands of [0, 1]) {
      const query = new RlsQuery(user(), 'select 1', [], types);
      if (commands === 1) answer(query, ['f', 'f', null]);
      query.handleReadyForQuery();
      await rejects(query);
    }
  });
});

describe('the result', () => {
  test('has typed rows and the row count', async () => {
    const text =
      "select $1::date as day, 5::bigint as many, '2026-01-01T00:00:00Z'::timestamptz as at, $2::jsonb as json";
    expect(await run(user(), text, ['2026-11-21', { a: [1] }])).toEqual({
      rows: [{ day: '2026-11-21', many: 5, at: new Date('2026-01-01T00:00:00Z'), json: { a: [1] } }],
      rowCount: 1,
    });
  });

  test('is empty when no row matches, and counts written rows without returning them', async () => {
    expect(await run(user(), 'select 1 as one where false')).toEqual({ rows: [], rowCount: 0 });
    const add = 'insert into auth.users (email) select $1 || n || $2 from generate_series(1, 3) n';
    expect(await run(service, add, ['a', '@example.com'])).toEqual({ rows: [], rowCount: 3 });
  });

  test('resolves after the commit, so a violated deferred constraint rejects', async () => {
    await db.admin.query(`
      create table public.deferred (n int, constraint only_one unique (n) deferrable initially deferred);
      grant all on public.deferred to service_role`);
    expect(await codeOf(run(service, 'insert into public.deferred select 1 from generate_series(1, 2)'))).toBe('23505');
    expect((await run(service, 'select * from public.deferred')).rows).toEqual([]);
  });
});

describe('role and claims', () => {
  test('apply to the query and are reset after it', async () => {
    const someone = user();
    expect((await run(someone, WHO)).rows).toEqual([{ role: 'authenticated', claims: someone.claimsJson }]);
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
    const { user: login } = requestConnection(db.url);
    expect((await client.query(WHO)).rows).toEqual([{ role: login, claims: null }]);
  });

  test('are reset after a failed query', async () => {
    const { user: login } = requestConnection(db.url);
    expect(await codeOf(run(user(), 'select 1 / $1::int', [0]))).toBe('22012');
    expect((await client.query(WHO)).rows).toEqual([{ role: login, claims: null }]);
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });

  test('reject a role that the login is not a member of', async () => {
    const owner = { role: 'hustle_forge', claimsJson: '{}' } as unknown as ActingAs;
    expect(await codeOf(run(owner, WHO))).toBe('42501');
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });

  test('changed by a query do not leak into the next one', async () => {
    await run(user(), 'select set_config(\'request.jwt.claims\', \'{"sub":"intruder"}\', true)');
    expect((await run(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
  });
});

describe('a query after an error on the same connection', () => {
  test('succeeds after a parse error, and so does the same text once it is valid', async () => {
    const text = 'select n from public.comes_later';
    expect(await codeOf(run(service, text))).toBe('42P01');
    await db.admin.query('create table public.comes_later (n int); grant select on public.comes_later to service_role');
    expect((await run(service, text)).rows).toEqual([]);
  });

  test('succeeds after the same insert failed', async () => {
    const text = 'insert into auth.users (email) values ($1)';
    await run(service, text, ['twice@example.com']);
    expect(await codeOf(run(service, text, ['twice@example.com']))).toBe('23505');
    expect(await codeOf(run(service, text, ['twice@example.com']))).toBe('23505');
    expect((await run(service, text, ['once@example.com'])).rowCount).toBe(1);
  });

  test('succeeds after the first insert of the connection failed', async () => {
    const text = 'insert into auth.users (email) values ($1) returning email';
    expect(await codeOf(run(service, text, ['UPPER@example.com']))).toBe('23514');
    expect((await run(service, text, ['lower@example.com'])).rows).toEqual([{ email: 'lower@example.com' }]);
  });

  test('succeeds after a value that cannot be serialised', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    await expect(run(user(), 'select $1::jsonb', [circular])).rejects.toThrow(TypeError);
    expect((await run(guest, WHO)).rows).toHaveLength(1);
  });

  test('succeeds after a value with a null byte or a lone surrogate', async () => {
    expect(await codeOf(run(user(), 'select $1::text as it', ['a\0b']))).toBe('22021');
    expect((await run(user(), 'select $1::text as it', ['\ud800'])).rows).toEqual([{ it: '\ufffd' }]);
  });
});

describe('prepared statements', () => {
  test('are prepared once for each text and role', async () => {
    for (let i = 0; i < 3; i += 1) await run(user(), WHO);
    expect(await namesOnServer()).toEqual(['act_as_with_token_1', expect.stringMatching(/^s1_/)]);
    await run(guest, WHO);
    expect(await namesOnServer()).toEqual([
      'act_as_with_token_1',
      expect.stringMatching(/^s1_/),
      expect.stringMatching(/^s2_/),
    ]);
  });

  test('have names that stand for one role and text on every connection', async () => {
    const other = new pg.Client(requestConnection(db.url));
    await other.connect();
    await other.query(new RlsQuery(guest, WHO, [], types)).done;
    const { rows } = await other.query<{ name: string }>("select name from pg_prepared_statements where name ~ '^s'");
    await other.end();
    await run(user(), WHO);
    await run(guest, 'select 1');
    const names = [...(await namesOnServer()).slice(1), rows[0]!.name];
    expect(new Set(names.map((name) => name.replace(/^s\d+_/, ''))).size).toBe(3);
    await run(guest, WHO);
    expect((await namesOnServer()).at(-1)!.replace(/^s\d+/, '')).toBe(rows[0]!.name.replace(/^s\d+/, ''));
  });

  test('stay bounded and keep the recently used ones', async () => {
    for (let i = 0; i < 250; i += 1) {
      await run(user(), `select ${i} as i`);
      await run(user(), WHO);
    }
    const names = await namesOnServer();
    expect(names.length).toBeLessThanOrEqual(101);
    expect(names.filter((name) => name.startsWith('s2_'))).toHaveLength(1);
  });
});

describe('concurrent queries', () => {
  test('each see their own claims and rows while others fail', async () => {
    const jobs = Array.from({ length: 300 }, async (_, i) => {
      const sub = randomUUID();
      const asUser = db.database.asUser({ role: 'authenticated', claimsJson: JSON.stringify({ sub }) });
      if (i % 7 === 0) return expect(await codeOf(asUser.statement('select 1 / $1::int', [0]))).toBe('22012');
      const { rows } = await asUser.statement('select auth.uid() as uid, $1::int as i', [i]);
      return expect(rows).toEqual([{ uid: sub, i }]);
    });
    await Promise.all(jobs);
  });

  test('a transaction is isolated, commits atomically and rolls back atomically', async () => {
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

describe('unnamed statements', () => {
  const runUnnamed = async (actingAs: ActingAs, text: string, values: readonly unknown[] = []) =>
    client.query(new RlsQuery(actingAs, text, values, types, 'unnamed')).done;

  test('have the identity of their caller and leave nothing prepared', async () => {
    const someone = user();
    expect((await runUnnamed(someone, WHO)).rows).toEqual([{ role: 'authenticated', claims: someone.claimsJson }]);
    expect(await codeOf(runUnnamed(user(), 'select 1 / $1::int', [0]))).toBe('22012');
    expect((await runUnnamed(guest, WHO)).rows).toEqual([{ role: 'anon', claims: '{}' }]);
    expect(await namesOnServer()).toEqual([]);
  });

  test('can follow named ones on a connection, and the other way round', async () => {
    await run(guest, WHO);
    expect((await runUnnamed(guest, 'select 2 as n')).rows).toEqual([{ n: 2 }]);
    expect((await run(guest, 'select 3 as n')).rows).toEqual([{ n: 3 }]);
    expect((await run(guest, 'select 3 as n')).rows).toEqual([{ n: 3 }]);
  });
});

describe('a statement whose plan DDL has made stale', () => {
  const all = () => db.database.asService('test').statement('select * from public.grows', []);

  test('succeeds at once, on every connection', async () => {
    await db.admin.query('create table public.grows (a int); grant select on public.grows to service_role');
    await Promise.all([all(), all(), all(), all()]);
    await db.admin.query('alter table public.grows add b int; insert into public.grows values (1, 2)');
    const results = await Promise.all([all(), all(), all(), all()]);
    for (const { rows } of results) expect(rows).toEqual([{ a: 1, b: 2 }]);
    await db.admin.query('alter table public.grows add c int');
    expect((await all()).rows).toEqual([{ a: 1, b: 2, c: null }]);
  });
});
