/** Every way in which the private PostgreSQL may be found or left: clean, killed, locked, already running. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDatabase } from '#server/database/connect.ts';
import { AlreadyRunningError, openEmbeddedServer } from '#server/database/embedded/server.ts';
import { createLog } from '#server/log.ts';

import { postmasterOf, startDatabaseProcess } from './database-process.ts';

/** One data directory, left by each test as it should be: with nothing running. First starts get one of their own. */
let dataDir: string;
beforeAll(async () => {
  dataDir = await newDataDir();
  await (await open()).close();
});
afterAll(() => removeDataDirs());

const made: string[] = [];
async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-faults-'));
  made.push(folder);
  return folder;
}
async function removeDataDirs(): Promise<void> {
  await Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true })));
}

const log = createLog('silent');
const open = (whenRunning: 'refuse' | 'join' = 'refuse') => openEmbeddedServer({ dataDir, log, whenRunning });

async function answer(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ one: number }>('select 1 as one');
  await client.end();
  return rows[0]!.one;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a lock file that nobody holds', () => {
  test.each([
    ['names a process that has ended', '999999'],
    ['names a process that is something else by now', String(process.pid)],
    ['was cut off while written', ''],
  ])('%s: the start goes on', async (_, pid) => {
    const lockFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    await writeFile(lockFile, pid === '' ? '' : `${pid}\n/somewhere\n1\n5432\n.\n\n`);
    const server = await open();
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });
});

test('a first start that was cut off is begun anew', async () => {
  const half = await newDataDir();
  await mkdir(join(half, 'postgres.unfinished/cluster'), { recursive: true });
  await writeFile(join(half, 'postgres.unfinished/cluster/PG_VERSION'), '18\n');
  const server = await openEmbeddedServer({ dataDir: half, log });
  expect(await answer(server.url)).toBe(1);
  await server.close();
});

describe('while another process has the directory', () => {
  test('a start says so, and a command joins and leaves the database running', async () => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    const refusal: unknown = await open().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AlreadyRunningError);
    expect(String(refusal)).toContain(`already running on ${dataDir}`);
    const joined = await open('join');
    expect(await answer(joined.url)).toBe(1);
    await joined.close();
    expect(await answer(joined.url)).toBe(1);
    other.child.kill('SIGTERM');
    await other.ended;
  });

  test('of two first starts at once one serves and one says so', async () => {
    const fresh = await newDataDir();
    const both = [startDatabaseProcess(fresh, 'idle'), startDatabaseProcess(fresh, 'idle')];
    const [first, second] = await Promise.all(
      both.map(({ waitForLine }) => Promise.race([waitForLine('ready'), waitForLine('failed')])),
    );
    expect([first, second].filter((line) => line === 'ready')).toHaveLength(1);
    expect([first, second].find((line) => line !== 'ready')).toContain('already running');
    for (const { child } of both) child.kill('SIGTERM');
    await Promise.all(both.map(({ ended }) => ended));
  });

  test('a start that comes while the other is stopping waits for it', async () => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    other.child.kill('SIGTERM');
    const server = await open();
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });

  test('a command starts the database by itself when nobody else has', async () => {
    const server = await open('join');
    const pid = postmasterOf(dataDir);
    await server.close();
    expect(isAlive(pid)).toBe(false);
  });
});

describe('the database ends with the process', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('on %s, which still ends the process', async (signal) => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    const pid = postmasterOf(dataDir);
    other.child.kill(signal);
    await other.ended;
    expect(other.child.signalCode).toBe(signal);
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    expect(await readFile(join(dataDir, 'postgres/server.log'), 'utf8')).toContain('database system is shut down');
  });

  test('on an error that nobody catches', async () => {
    const other = startDatabaseProcess(dataDir, 'throw');
    await other.waitForLine('ready');
    const pid = postmasterOf(dataDir);
    await other.ended;
    expect(other.child.exitCode).toBe(1);
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  test('not on kill -9; then the next start ends it and takes its place', async () => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    const pid = postmasterOf(dataDir);
    other.child.kill('SIGKILL');
    await other.ended;
    expect(isAlive(pid)).toBe(true);
    const server = await open();
    expect(postmasterOf(dataDir)).not.toBe(pid);
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });
});

test('a database that dies is started again under the same connection string', async () => {
  const database = await openDatabase({ config: { dataDir, databaseUrl: null }, log });
  expect(await database.isReady()).toBe(true);
  const pid = postmasterOf(dataDir);
  process.kill(pid, 'SIGKILL');
  await expect
    .poll(() => database.isReady().then((ready) => ready && postmasterOf(dataDir) !== pid), { timeout: 20_000 })
    .toBe(true);
  await database.close();
});

test('a path too long for a socket is served on loopback', async () => {
  const long = join(await newDataDir(), 'a-folder-with-a-long-name'.repeat(4));
  const server = await openEmbeddedServer({ dataDir: long, log });
  expect(server.url).toContain('127.0.0.1');
  expect(await answer(server.url)).toBe(1);
  await server.close();
});

test('what somebody wrote never reaches the log of the database', async () => {
  const server = await open();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('create temporary table diary (content text check (content <> $$my secret$$), day date)');
  await expect(client.query('insert into diary values ($1)', ['my secret'])).rejects.toThrow('violates check');
  await expect(client.query('insert into diary values ($1, $2)', ['my secret', 'no day'])).rejects.toThrow(
    'invalid input',
  );
  await expect(client.query("select * from diary where content = 'my secret' and nonsense")).rejects.toThrow(
    'nonsense',
  );
  await client.end();
  await server.close();
  const text = await readFile(join(dataDir, 'postgres/server.log'), 'utf8');
  expect(text).toContain('violates check');
  expect(text).not.toContain('my secret');
});
