import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { log, setUpBackups, withClient } from '../../../tests/support/commands/backups.ts';
import { writeReplacedMigrations } from '../../../tests/support/replaced-migrations.ts';
import { openEmbeddedServer } from '../database/embedded/server.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { MIGRATIONS, readMigrations } from '../database/migrations/migration-files.ts';
import { UsageError } from './archive-format.ts';
import { planKeyFiles } from './key-files.ts';
import { runRestore } from './restore-command.ts';

const world = setUpBackups();

let file: string;
beforeAll(async () => {
  file = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder });
});

async function newMigrationsFolder(): Promise<URL> {
  return pathToFileURL(`${await mkdtemp(join(world.folder, 'migrations-'))}/`);
}

/** A backup by a version with the replaced migrations, those of `app` up to number `last`. */
async function backUpEarlierDatabase(last?: number): Promise<string> {
  const folder = await newMigrationsFolder();
  await writeReplacedMigrations(folder, last);
  return world.withOrdinaryOwner(async (url) => {
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    await migrate(url, log, { folder });
    await withClient(url, (client) =>
      client.query("create table stray (id integer); insert into auth.users (email) values ('old@example.com')"),
    );
    await rm(await world.backUp(env));
    expect(world.warnings.join('\n')).toContain('public.stray is not in the backup');
    await withClient(url, (client) => client.query('grant select on stray to service_role'));
    return world.backUp(env);
  });
}

test('a restore of an older backup with a table of somebody else runs the newer migrations and names the table', async () => {
  const older = await backUpEarlierDatabase();
  const newerRelease = await newMigrationsFolder();
  await cp(MIGRATIONS, newerRelease, { recursive: true });
  const { number: last } = (await readMigrations()).at(-1)!;
  const next = `app/${String(last + 1).padStart(4, '0')}_mood.sql`;
  await writeFile(new URL(next, newerRelease), '-- phase: expand\nalter table public.profiles add column mood text;');
  await world.withOrdinaryOwner(async (url) => {
    const deps = world.deps({ DATABASE_URL: url, DATA_DIR: await world.newDataDir() });
    await runRestore([older], { ...deps, migrationsFolder: newerRelease });
    expect(world.warnings.join('\n')).toContain('public.stray was left out');
    const { rows } = await withClient(url, (client) =>
      client.query("select number, name from migrations.applied where set = 'app' order by number"),
    );
    expect([rows[0], rows.at(-1)]).toEqual([
      { number: 39, name: 'baseline' },
      { number: last + 1, name: 'mood' },
    ]);
    const users = await withClient(url, (client) => client.query('select email from auth.users'));
    expect(users.rows).toEqual([{ email: 'old@example.com' }]);
  });
});

test('a restore of a backup that lacks migrations which a baseline replaces is refused and changes nothing', async () => {
  const older = await backUpEarlierDatabase(22);
  await world.withOrdinaryOwner(async (url) => {
    const restore = runRestore([older], world.deps({ DATABASE_URL: url, DATA_DIR: await world.newDataDir() }));
    await expect(restore).rejects.toThrow(
      'the backup is of an older version: it has 22 of the 39 migrations that app/0039_baseline replaces. Restore it with ' +
        'the last version whose folder database/migrations/app ends with 0039, start that version, and make a new backup with it.',
    );
    const { rows } = await withClient(url, (client) => client.query("select to_regclass('auth.users') as users"));
    expect(rows).toEqual([{ users: null }]);
  });
});

test('a restore into a database with data, or one that a server uses, is refused and changes nothing', async () => {
  await world.withOrdinaryOwner(async (url) => {
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    await runRestore([file], world.deps(env));
    await expect(runRestore([file], world.deps(env))).rejects.toThrow(/the database is not empty .*use --replace/);
    await withClient(url, (client) => client.query("insert into auth.users (email) values ('new@example.com')"));
    await withClient(`${url}&application_name=hustle-forge`, async () => {
      await expect(runRestore([file, '--replace'], world.deps(env))).rejects.toThrow('a server uses the database');
    });
    const count = async () => (await withClient(url, (client) => client.query('select from auth.users'))).rowCount!;
    const before = await count();
    const interrupt = new AbortController();
    const interrupted = world.deps(env, interrupt.signal);
    interrupted.onProgress = ({ doing }) => doing.startsWith('comparing') && interrupt.abort(new Error('interrupted'));
    await expect(runRestore([file, '--replace'], interrupted)).rejects.toThrow('interrupted');
    expect(await count()).toBe(before);
    await runRestore([file, '--replace'], world.deps(env));
    expect(await count()).toBe(before - 1);
  });
});

test("a restore into a database with another program's objects is refused and changes nothing", async () => {
  await world.withOrdinaryOwner(async (url) => {
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    await withClient(url, async (client) => {
      await client.query('create table ideas ()');
      await expect(runRestore([file], world.deps(env))).rejects.toThrow('not empty (public.ideas)');
      await client.query('drop table ideas; create function add_one(n int) returns int language sql return n + 1');
      await expect(runRestore([file], world.deps(env))).rejects.toThrow('not empty (add_one(integer))');
      await client.query('drop function add_one(int); create schema pgboss');
      await expect(runRestore([file], world.deps(env))).rejects.toThrow('not empty (schema pgboss)');
    });
    await runRestore([file, '--replace'], world.deps(env));
  });
});

test('a restore beside a running embedded server is refused', async () => {
  const dataDir = await world.newDataDir();
  const server = await openEmbeddedServer({ dataDir, log, settings: { fsync: 'off' } });
  await expect(runRestore([file], world.deps({ DATA_DIR: dataDir }))).rejects.toThrow('is already running');
  await server.close();
});

const KEY = '{"kty":"EC"}\n';

test('a restore refuses to overwrite another signing key, and renames that key with --replace', async () => {
  const dataDir = await world.newDataDir();
  const config = { dataDir, auth: { signingKeyFile: null, samlKeyFile: null } };
  const plan = (replace: boolean, content = KEY) =>
    planKeyFiles(new Map([['signing-key.json', Buffer.from(content)]]), config, {
      replace,
      now: new Date(0),
      hasStoredKeys: false,
    });
  const name = join(dataDir, 'signing-key.json');
  await writeFile(name, 'another');
  await expect(plan(false)).rejects.toThrow(`${name} holds another key than the backup`);
  const discarded = await plan(true);
  await discarded.stage();
  await discarded.discard();
  expect(await readdir(dataDir)).toEqual(['signing-key.json']);
  const placement = await plan(true);
  await placement.stage();
  expect(await readFile(name, 'utf8')).toBe('another');
  expect(await placement.place()).toEqual([{ file: name, setting: null }]);
  const kept = `signing-key.json.before-restore-${placement.restoreId}`;
  expect(kept).toContain('before-restore-19700101T000000Z-');
  expect(await readdir(dataDir)).toEqual(['signing-key.json', kept]);
  expect(await readFile(name, 'utf8')).toBe(KEY);
  expect(await readFile(join(dataDir, kept), 'utf8')).toBe('another');
  // A file with the same key is already in place.
  expect(await (await plan(false)).place()).toEqual([]);
});

test.each([
  ['no file', []],
  ['two files', ['a', 'b']],
  ['an unknown option', ['a', '--force']],
])('%s is wrong usage', async (_what, args) => {
  await expect(runRestore(args, world.deps({ DATA_DIR: world.folder }))).rejects.toThrow(UsageError);
});
