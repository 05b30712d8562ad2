import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { log, setUpBackups, withClient } from '../../../tests/support/commands/backups.ts';
import { openEmbeddedServer } from '../database/embedded/server.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { MIGRATIONS, readMigrations } from '../database/migrations/migration-files.ts';
import { UsageError } from './backup-error.ts';
import { planKeyFiles } from './key-files.ts';
import { runRestore } from './restore-command.ts';

const world = setUpBackups();

let file: string;
beforeAll(async () => {
  file = await world.backUp({ DATABASE_URL: world.source.url, DATA_DIR: world.folder });
});

/** The migrations of an earlier release: all of `auth`, and those of `app` up to a number. */
async function oldMigrations(last: number): Promise<URL> {
  const copy = pathToFileURL(`${await mkdtemp(join(world.folder, 'migrations-'))}/`);
  await cp(MIGRATIONS, copy, {
    recursive: true,
    filter: (path) => !(Number(/app\/(\d{4})_/.exec(path)?.[1]) > last),
  });
  return copy;
}

test('a restore of an older backup with a table of somebody else runs the newer migrations and names the table', async () => {
  const oldRelease = await oldMigrations(22);
  const older = await world.withOrdinaryOwner(async (url) => {
    const env = { DATABASE_URL: url, DATA_DIR: await world.newDataDir() };
    await migrate(url, log, { folder: oldRelease });
    await withClient(url, (client) =>
      client.query("create table stray (id integer); insert into auth.users (email) values ('old@example.com')"),
    );
    await rm(await world.backUp(env));
    expect(world.warnings.join('\n')).toContain('public.stray is not in the backup');
    await withClient(url, (client) => client.query('grant select on stray to service_role'));
    return world.backUp(env);
  });
  await world.withOrdinaryOwner(async (url) => {
    await runRestore([older], world.deps({ DATABASE_URL: url, DATA_DIR: await world.newDataDir() }));
    expect(world.warnings.join('\n')).toContain('public.stray was left out');
    const { rows } = await withClient(url, (client) =>
      client.query<{ number: number }>("select number from migrations.applied where set = 'app'"),
    );
    // A running server applies the migrations of the other phases.
    const expansions = (await readMigrations()).filter(({ set, phase }) => set === 'app' && phase === 'expand');
    expect(expansions.length).toBeGreaterThan(22);
    expect(rows.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual(
      expansions.map(({ number }) => number),
    );
    const users = await withClient(url, (client) => client.query('select email from auth.users'));
    expect(users.rows).toEqual([{ email: 'old@example.com' }]);
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
