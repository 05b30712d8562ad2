/** Tests how migrations of each phase reach a database that servers serve meanwhile. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { openDatabase } from '../connect.ts';
import type { Database } from '../database.ts';
import { LOCK_KEY } from './migrate.ts';
import { MIGRATIONS, readMigrations } from './migration-files.ts';
import { createLog } from '#server/log.ts';
import { Secret } from '#server/config/settings-reader.ts';

const EXPAND = '-- phase: expand\nalter table public.profiles add column mood text;';
const INDEX = `-- phase: migrate
-- A comment; with a semicolon.
create unique index concurrently if not exists profiles_mood on public.profiles (mood);`;
const BACKFILL = `-- phase: migrate
update public.profiles set mood = id::text where id in (select id from public.profiles where mood is null limit 2);`;
const CONTRACT = '-- phase: contract\nalter table public.profiles drop column mood;';

let db: TestDatabase;
let folder = '';
let lines: string[] = [];
const opened: Database[] = [];

beforeEach(async () => {
  db = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-migrations-'));
  await cp(MIGRATIONS, pathToFileURL(`${folder}/`), { recursive: true });
  lines = [];
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await db.drop();
  await rm(folder, { recursive: true });
});

const last = (await readMigrations()).at(-1)!.number;

/** Writes the migrations of a newer version after those of this one. */
async function release(...migrations: string[]): Promise<void> {
  for (const [index, sql] of migrations.entries()) {
    const number = String(last + 1 + index).padStart(4, '0');
    await writeFile(join(folder, 'app', `${number}_newer_${index + 1}.sql`), sql);
  }
}

const log = createLog('info', { write: (line) => void lines.push(line) });
const config = () => ({ databaseUrl: new Secret(db.url), dataDir: '' });

async function openVersion(version: 'this' | 'newer'): Promise<Database> {
  const options = { config: config(), log };
  const database = await openDatabase(
    version === 'this' ? options : { ...options, migrationsFolder: pathToFileURL(`${folder}/`) },
  );
  opened.push(database);
  return database;
}

const hasMood = async (): Promise<boolean> =>
  (await db.admin.query("select from pg_attribute where attrelid = 'profiles'::regclass and attname = 'mood'"))
    .rowCount === 1;
const findIndex = async (): Promise<unknown> =>
  (await db.admin.query("select indisvalid as valid from pg_index where indexrelid = to_regclass('profiles_mood')"))
    .rows[0];

test('a server stays ready and starts on a database that a newer one has expanded', async () => {
  await release(EXPAND, INDEX);
  const before = await openVersion('this');
  const newer = await openVersion('newer');
  expect(await hasMood()).toBe(true);
  expect([await before.isReady(), await newer.isReady()]).toEqual([true, true]);
  expect(await (await openVersion('this')).isReady()).toBe(true);
});

test('a server is not ready without an expansion that it needs', async () => {
  await release(EXPAND);
  const newer = await openVersion('newer');
  await db.admin.query('delete from migrations.applied where number = $1', [last + 1]);
  expect(await newer.isReady()).toBe(false);
});

test('a contraction waits until no older server is connected, which then cannot start', async () => {
  await release(EXPAND, CONTRACT);
  const older = await openVersion('this');
  const stop = older.listenToChanges({ onChange() {}, onGap() {} });
  await expect
    .poll(() =>
      db.admin
        .query(
          "select from pg_stat_activity where datname = current_database() and application_name ~ '^hustle-forge-changes .*app/'",
        )
        .then(({ rowCount }) => rowCount),
    )
    .toBe(1);
  const newer = await openVersion('newer');
  expect(await newer.finishMigrations()).toEqual({
    applied: 0,
    waitsFor: expect.stringMatching(/newer_2: servers of an older version are connected \(hustle-forge-changes /),
  });
  expect([await hasMood(), await older.isReady()]).toEqual([true, true]);

  await stop();
  await expect.poll(() => newer.finishMigrations()).toEqual({ applied: 1, waitsFor: null });
  expect([await hasMood(), await older.isReady(), await newer.isReady()]).toEqual([false, false, true]);
  await expect(openVersion('this')).rejects.toThrow(/newer than this program: it has app\/\d+_newer_2/);
  expect(await newer.finishMigrations()).toEqual({ applied: 0, waitsFor: null });
});

test('a forced contraction does not wait for older servers', async () => {
  await release(CONTRACT.replace('mood', 'country'));
  const older = await openVersion('this');
  const stop = older.listenToChanges({ onChange() {}, onGap() {} });
  const newer = await openVersion('newer');
  expect(await newer.finishMigrations({ force: true })).toEqual({ applied: 1, waitsFor: null });
  expect(await older.isReady()).toBe(false);
  await stop();
});

test('a migration that must wait for a lock lets requests pass and is applied later', async () => {
  await release(EXPAND);
  const reader = await db.admin.connect();
  await reader.query('begin; select count(*) from profiles');
  const newer = openVersion('newer');
  await expect.poll(() => lines.join('')).toContain('holds the lock');
  expect((await db.admin.query('select count(*) from profiles')).rows).toHaveLength(1);
  expect(await hasMood()).toBe(false);
  await reader.query('commit');
  reader.release();
  expect(await (await newer).isReady()).toBe(true);
  expect(await hasMood()).toBe(true);
});

test('an index is built while servers start and write, and built again after a crash', async () => {
  await db.admin.query('insert into auth.users (id) select gen_random_uuid() from generate_series(1, 2)');
  await release(EXPAND.replace('text', "text default 'same'"), INDEX);
  const newer = await openVersion('newer');
  // A build that fails leaves an invalid index, and so does a build whose server is killed.
  await expect(newer.finishMigrations()).rejects.toThrow('could not create unique index');
  expect(await findIndex()).toEqual({ valid: false });
  await db.admin.query('update profiles set mood = id::text');

  // The build waits for the end of older transactions, so this one holds it up.
  const writer = await db.admin.connect();
  await writer.query("begin; update profiles set country = 'DE'");
  const building = newer.finishMigrations();
  await expect.poll(() => findIndex()).toEqual({ valid: false });
  const other = await openVersion('newer');
  expect(await other.isReady()).toBe(true);
  expect(await other.finishMigrations()).toEqual({ applied: 0, waitsFor: 'another server applies a step now' });
  await db.admin.query('insert into auth.users default values');
  await writer.query('commit');
  writer.release();
  expect(await building).toEqual({ applied: 1, waitsFor: null });
  expect(await findIndex()).toEqual({ valid: true });

  await db.admin.query('delete from migrations.applied where number = $1', [last + 2]);
  expect(await newer.finishMigrations()).toEqual({ applied: 1, waitsFor: null });
});

test('a server that waits for the start of another one does not block an index', async () => {
  await release(EXPAND, INDEX);
  const newer = await openVersion('newer');
  const starting = await db.admin.connect();
  await starting.query('select pg_advisory_lock($1)', [LOCK_KEY]);
  const waiting = openVersion('newer');
  // Waits until the second server has asked for the lock. The three sessions are that of this query, `starting` and the
  // server's.
  await expect
    .poll(() =>
      db.admin.query(
        "select from pg_stat_activity where datname = current_database() and query like '%advisory_lock%'",
      ),
    )
    .toMatchObject({ rowCount: 3 });
  expect(await newer.finishMigrations({ signal: AbortSignal.abort() })).toMatchObject({ applied: 0 });
  expect(await newer.finishMigrations()).toEqual({ applied: 1, waitsFor: null });
  await starting.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
  starting.release();
  expect(await (await waiting).isReady()).toBe(true);
});

test('a backfill runs in batches until no row is left, and stops between two', async () => {
  await db.admin.query('insert into auth.users (id) select gen_random_uuid() from generate_series(1, 5)');
  await release(EXPAND, BACKFILL);
  const newer = await openVersion('newer');
  const filled = async (): Promise<unknown> =>
    (await db.admin.query('select count(mood) as filled, count(*) as total from profiles')).rows[0];
  let abortedReads = 0;
  const stopping = {
    get aborted() {
      return (abortedReads += 1) > 2;
    },
  } as AbortSignal;
  expect(await newer.finishMigrations({ signal: stopping })).toMatchObject({ applied: 0 });
  expect(await filled()).toEqual({ filled: 2, total: 5 });
  expect(await newer.finishMigrations()).toEqual({ applied: 1, waitsFor: null });
  expect(await filled()).toEqual({ filled: 5, total: 5 });
});

test('an empty database gets all phases at once', async () => {
  await release(EXPAND, INDEX, BACKFILL, CONTRACT);
  const name = `${/\/(\w+)\?/.exec(db.url)![1]}_empty`;
  await db.admin.query(`create database ${name}`);
  const url = db.url.replace(/\/\w+\?/, `/${name}?`);
  const database = await openDatabase({
    config: { databaseUrl: new Secret(url), dataDir: '' },
    log,
    migrationsFolder: pathToFileURL(`${folder}/`),
  });
  expect(await database.finishMigrations()).toEqual({ applied: 0, waitsFor: null });
  expect(await database.isReady()).toBe(true);
  await database.close();
  const admin = new pg.Client(db.url);
  await admin.connect();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});
