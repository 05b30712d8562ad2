/** Tests what the server finds out about a pooler at its start, and that requests through one are right. */
import { randomUUID } from 'node:crypto';

import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';

import { startStubPooler, type StubPooler } from '../../../../tests/support/servers/stub-pooler.ts';
import { setUpTestDatabase } from '../../../../tests/support/set-up.ts';
import { createTestDatabase } from '../../../../tests/support/test-database.ts';

import { Secret } from '#server/config/settings-reader.ts';
import { createLog } from '#server/log.ts';

import { openDatabase } from '../connect.ts';
import type { Database } from '../database.ts';
import { requestConnection } from '../roles.ts';
import { keepsSessionOfPipeline } from './inspect-pooler.ts';

const db = setUpTestDatabase();

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).toReversed()) await end();
});

async function startPooler(options: Partial<Parameters<typeof startStubPooler>[0]> = {}): Promise<StubPooler> {
  const pooler = await startStubPooler({ serverUrl: db.url, mode: 'transaction', ...options });
  cleanUp.push(() => pooler.stop());
  return pooler;
}

async function open(poolUrl: string, url = db.url): Promise<{ database: Database; log: string[] }> {
  const log: string[] = [];
  const database = await openDatabase({
    config: { databaseUrl: new Secret(url), databasePoolUrl: new Secret(poolUrl), dataDir: '' },
    log: createLog('warn', { write: (line) => log.push(line) }),
  });
  cleanUp.push(() => database.close());
  return { database, log };
}

/** Many texts, users and errors at once, each with its own answer. */
async function expectRightAnswers(database: Database): Promise<void> {
  await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const sub = randomUUID();
      const identity = { role: 'authenticated', claimsJson: JSON.stringify({ sub }) } as const;
      const asUser = database.asUser(identity, { isQuickRead: index % 3 > 0 });
      if (index % 9 === 0) {
        await expect(asUser.statement('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
        return;
      }
      const { rows } = await asUser.statement(`select auth.uid() as uid, $1::int as value, ${index % 7} as kind`, [
        index,
      ]);
      expect(rows).toEqual([{ uid: sub, value: index, kind: index % 7 }]);
    }),
  );
}

const preparedNames = (database: Database) =>
  database.asService('test').statement<{ name: string }>('select name from pg_prepared_statements', []);

test.each([
  ['hands out the latest session', {}],
  ['hands out one session after another', { sessions: 3, isRoundRobin: true }],
])('sends statements unnamed through a pooler that mixes prepared statements and %s', async (_what, options) => {
  const { database, log } = await open((await startPooler(options)).url);
  expect(log.join()).toContain('max_prepared_statements = 200');
  await expectRightAnswers(database);
  const { rows } = await preparedNames(database);
  expect(rows.filter(({ name }) => /^s\d/.test(name))).toEqual([]);
});

test('sends named statements through a pooler in session mode', async () => {
  const { database } = await open((await startPooler({ mode: 'session' })).url);
  await expectRightAnswers(database);
  const { rows } = await preparedNames(database);
  expect(rows).toContainEqual({ name: expect.stringMatching(/^s\d+_/) });
});

test('runs no statement of another client when a pooler begins to mix prepared statements later', async () => {
  const pooler = await startPooler({ mode: 'session' });
  const { database, log } = await open(pooler.url);
  await expectRightAnswers(database);
  pooler.mode = 'transaction';
  await expectRightAnswers(database);
  expect(log.join()).toContain('since its last change');
  await expectRightAnswers(database);
});

const connectTo = (url: string) => async () => {
  const client = new pg.Client({ ...requestConnection(url), pipeline: true });
  client.on('error', () => undefined);
  return client.connect();
};

test.each([
  ['counts the queries of a pipeline', false],
  ['gives a session away after the first answer', true],
])('finds out whether a pooler %s', async (_what, countsNoQueries) => {
  const pooler = await startPooler({ countsNoQueries });
  expect(await keepsSessionOfPipeline(connectTo(pooler.url), connectTo(db.url), 'unnamed')).toBe(!countsNoQueries);
});

test('finds out that a pooler closes the connection of a pipeline', async () => {
  const connect = async () => {
    const client = await connectTo(db.url)();
    const submit = client.query.bind(client);
    let queries = 0;
    const query = (submitted: pg.Submittable): pg.Submittable => {
      queries += 1;
      if (queries > 2) client.connection.stream.destroy();
      return submit(submitted);
    };
    return Object.assign(client, { query });
  };
  expect(await keepsSessionOfPipeline(connect, connectTo(db.url), 'named')).toBe(false);
});

test('announces changes that were made through a pooler', async () => {
  const { database } = await open((await startPooler()).url);
  const changes: string[] = [];
  let isListening = false;
  const stop = database.listenToChanges({
    onChange: ({ userId, date, revision }) => changes.push(`${userId} ${date} ${revision}`),
    onGap: () => (isListening = true),
  });
  cleanUp.push(stop);
  await expect.poll(() => isListening).toBe(true);
  const userId = randomUUID();
  const service = database.asService('test');
  await service.statement('insert into auth.users (id) values ($1)', [userId]);
  await service.statement("insert into entries (user_id, date, content) values ($1, '2026-11-20', '<p>a</p>')", [
    userId,
  ]);
  await database.transactAsService('test', async (transaction) => {
    await transaction.statement("insert into entries (user_id, date, content) values ($1, '2026-11-21', '')", [userId]);
  });
  await expect.poll(() => changes).toEqual([`${userId} 2026-11-20 1`, `${userId} 2026-11-21 1`]);
});

test('an operator command works without the pooler', async () => {
  const pooler = await startStubPooler({ serverUrl: db.url, mode: 'transaction' });
  await pooler.stop();
  const database = await openDatabase({
    config: { databaseUrl: new Secret(db.url), databasePoolUrl: new Secret(pooler.url), dataDir: '' },
    log: createLog('silent'),
    whenRunning: 'join',
  });
  cleanUp.push(() => database.close());
  expect(await database.isReady()).toBe(true);
});

describe('the server refuses to start', () => {
  test.each([
    ['in statement mode', { mode: 'statement' }, 'allows no transactions: set pool_mode = transaction'],
    [
      'that adds to the application name',
      { applicationName: 'hustle-forge - 10.0.0.1' },
      'application_name_add_host = 0',
    ],
    ['that withholds notices', { dropsNotices: true }, 'withholds notices'],
  ] as const)('with a pooler %s', async (_what, options, message) => {
    const pooler = await startPooler(options);
    await expect(open(pooler.url)).rejects.toThrow(message);
  });

  test('with a pooler of another database', async () => {
    const other = await createTestDatabase();
    cleanUp.push(() => other.drop());
    const pooler = await startPooler();
    await expect(open(pooler.url, other.url)).rejects.toThrow('leads to another database');
  });

  test('if DATABASE_URL leads to a pooler that shares sessions', async () => {
    const pooler = await startPooler();
    await expect(open(pooler.url, pooler.url)).rejects.toThrow('DATABASE_URL leads to a pooler that shares sessions');
  });

  test('if nothing listens at the address of the pooler', async () => {
    const pooler = await startStubPooler({ serverUrl: db.url, mode: 'transaction' });
    await pooler.stop();
    await expect(open(pooler.url)).rejects.toThrow('DATABASE_POOL_URL cannot be reached: connect');
  });
});
