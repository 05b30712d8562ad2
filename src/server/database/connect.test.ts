/** Opening a PostgreSQL server of one's own (DATABASE_URL), whose owner is no superuser, and the ones that are refused. */
import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { createTestDatabase } from '../../../tests/support/test-database.ts';
import type { TestDatabase } from '../../../tests/support/test-database.ts';

import { startJobQueue } from '#server/jobs/job-queue.ts';
import { createLog } from '#server/log.ts';
import { Secret } from '#server/secret.ts';

import { openDatabase } from './connect.ts';

let server: TestDatabase;
let url: string;
let owner: string;
beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => server.drop());

/** An empty database and an owner of its own, as a hosted server hands them out. */
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
  await client.query(text);
  await client.end();
}

test('is migrated, and makes a profile for every user although its owner is no superuser', async () => {
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

test('carries the jobs although its owner is no superuser, for two servers that start at once', async () => {
  const databases = await Promise.all([open(), open()]);
  const queues = await Promise.all(
    databases.map((database) => startJobQueue({ database, log: createLog('silent'), jobs: [] })),
  );
  for (const queue of queues) await queue.stop();
  for (const database of databases) await database.close();
});

test('is opened by two servers at once, and again later', async () => {
  const databases = await Promise.all([open(), open()]);
  for (const database of databases) {
    expect(await database.isReady()).toBe(true);
    await database.close();
  }
  await (await open()).close();
});

test('is refused when it is newer than the program', async () => {
  await (await open()).close();
  await asOwner("insert into migrations.applied values ('app', 9999, 'from_the_future', 'x')");
  await expect(open()).rejects.toThrow('newer than this program: it has app/9999_from_the_future');
});

test('is refused when a migration was changed after it had been applied', async () => {
  await (await open()).close();
  await asOwner("update migrations.applied set checksum = 'other' where set = 'app' and number = 1");
  await expect(open()).rejects.toThrow('app/0001_profiles was changed');
});

test('is not ready once a newer program has migrated it', async () => {
  const database = await open();
  await asOwner("insert into migrations.applied values ('app', 9999, 'from_the_future', 'x')");
  expect(await database.isReady()).toBe(false);
  await database.close();
});

test.each(['superuser', 'bypassrls', 'createrole'])(
  'is refused when requests would log in as a role with %s',
  async (right) => {
    await (await open()).close();
    await server.admin.query(`alter role ${owner}_requests ${right}`);
    await expect(open()).rejects.toThrow('rights of its own');
  },
);

test('is refused when its owner may not make roles', async () => {
  await server.admin.query(`alter role ${owner} nocreaterole`);
  await expect(open()).rejects.toThrow('may not make the roles that requests need');
});

test('is refused without a password, and when nobody answers, without saying the password', async () => {
  await expect(open(url.replace(':geheim', ''))).rejects.toThrow('DATABASE_URL must name a user and a password');
  await expect(open(url.replace('geheim', 'falsch'))).rejects.toThrow(/^(?!.*falsch).*password authentication failed/);
});
