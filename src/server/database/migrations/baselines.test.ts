/** Tests databases that were made by the versions before the baselines. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeSchema } from '../../../../database/describe-schema.ts';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { writeReplacedMigrations } from '../../../../tests/support/replaced-migrations.ts';
import { Secret } from '#server/config/settings-reader.ts';
import { createLog } from '#server/log.ts';
import { openDatabase } from '../connect.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migration-files.ts';

const log = createLog('silent');

let server: TestDatabase;
let folder: string;
let created: string[];
beforeEach(async () => {
  server = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-baselines-'));
  created = [];
});
afterEach(async () => {
  for (const name of created) await server.admin.query(`drop database ${name} with (force)`);
  await server.drop();
  await rm(folder, { recursive: true });
});

async function createEmptyDatabase(): Promise<string> {
  const name = `${/\/(\w+)\?/.exec(server.url)![1]}_${String.fromCodePoint(97 + created.length)}`;
  await server.admin.query(`create database ${name}`);
  created.push(name);
  return server.url.replace(/\/\w+\?/, `/${name}?`);
}

/** A database as an earlier version made it, with a log. `last` is its last migration of `app`. */
async function createEarlierDatabase(last?: number): Promise<string> {
  const files = pathToFileURL(`${folder}/`);
  await writeReplacedMigrations(files, last);
  const url = await createEmptyDatabase();
  await migrate(url, log, { folder: files });
  await query(url, `insert into auth.users (email) values ('ada@example.com')`);
  await query(
    url,
    `insert into entries (user_id, date, content) select id, '2026-11-27', '<p>Shipped.</p>' from auth.users`,
  );
  return url;
}

async function query(url: string, text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(text);
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}

const readLedger = (url: string) =>
  query(url, `select format('%s/%s %s', set, number, name) as line from migrations.applied order by set, number`);

const open = (url: string) => openDatabase({ config: { databaseUrl: new Secret(url), dataDir: '' }, log });

test('the baselines make the schema of the version before', async () => {
  const url = await createEmptyDatabase();
  const onlyBaselines = pathToFileURL(`${folder}/baselines/`);
  await cp(MIGRATIONS, onlyBaselines, { recursive: true, filter: (path) => !/_(?!baseline\.sql$)[^/]*$/.test(path) });
  await migrate(url, log, { folder: onlyBaselines });
  expect(await readLedger(url)).toEqual(['app/39 baseline', 'auth/9 baseline']);
  expect(await describeSchema(url)).toBe(await describeSchema(await createEarlierDatabase()));
});

test('keeps a database of the version before, whose servers stay ready', async () => {
  const url = await createEarlierDatabase();
  const ledger = await readLedger(url);
  expect(ledger).toHaveLength(48);

  const earlier = await openDatabase({
    config: { databaseUrl: new Secret(url), dataDir: '' },
    log,
    migrationsFolder: pathToFileURL(`${folder}/`),
  });
  const database = await open(url);
  expect([await earlier.isReady(), await database.isReady()]).toEqual([true, true]);
  expect(await database.finishMigrations()).toMatchObject({ waitsFor: null });
  await database.close();
  await earlier.close();

  expect(await readLedger(url)).toEqual(expect.arrayContaining(ledger));
  expect(await query(url, 'select content_text as line from entries')).toEqual(['Shipped.']);
  const newUrl = await createEmptyDatabase();
  await migrate(newUrl, log);
  expect(await describeSchema(url)).toBe(await describeSchema(newUrl));
});

test('refuses a database of an older version, says what to do, and changes nothing', async () => {
  const url = await createEarlierDatabase(22);
  const [ledger, schema] = [await readLedger(url), await describeSchema(url)];
  await expect(open(url)).rejects.toThrow(
    'the database is of an older version: it has 22 of the 39 migrations that app/0039_baseline replaces. ' +
      'Start the last version whose folder database/migrations/app ends with 0039, run `npm run admin -- migrations:finish` ' +
      'with it until no migration is left, then start this version.',
  );
  expect(await readLedger(url)).toEqual(ledger);
  expect(await describeSchema(url)).toBe(schema);
});

test('refuses a database whose background steps the version before has not finished', async () => {
  const url = await createEarlierDatabase();
  await query(url, `delete from migrations.applied where set = 'auth' and number = 6`);
  await expect(open(url)).rejects.toThrow('it has 8 of the 9 migrations that auth/0009_baseline replaces');
});

test('refuses a database whose earlier migrations differ', async () => {
  const url = await createEarlierDatabase();
  await query(url, `update migrations.applied set checksum = 'other' where set = 'app' and number = 7`);
  await expect(open(url)).rejects.toThrow(
    'the database has other migrations than those that app/0039_baseline replaces',
  );
});
