/** The embedded PostgreSQL in every initial state: clean, killed, locked, already running, half-initialised. */
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { openDatabase } from '#server/database/connect.ts';
import { AlreadyRunningError, openEmbeddedServer } from '#server/database/embedded/server.ts';
import { createLog } from '#server/log.ts';

import { findChildren, readPostmasterPid, startDatabaseProcess } from './processes.ts';

/** Shared data directory. Each test leaves it without a running server. Tests of a first start use a new directory. */
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

test('a server without replicas runs the processes that it needs, and no other', async () => {
  const server = await open();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  // Answers once the launcher of autovacuum has started, which is after the first connection.
  await expect
    .poll(async () => {
      const { rows } = await client.query<{ type: string }>(
        'select distinct backend_type as type from pg_stat_activity',
      );
      return rows.map(({ type }) => type).toSorted();
    })
    .toEqual(['autovacuum launcher', 'background writer', 'checkpointer', 'client backend', 'walwriter']);
  await client.end();
  await server.close();
});

describe('a start with a stale lock file', () => {
  test.each([
    ['names a process that has ended', '999999'],
    ['names a pid that another program has reused', String(process.pid)],
    ['is truncated', ''],
  ])('succeeds when the file %s', async (_, pid) => {
    const lockFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    await writeFile(lockFile, pid === '' ? '' : `${pid}\n/somewhere\n1\n5432\n.\n\n`);
    const server = await open();
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });
});

if (process.env['TEST_LONG'])
  test('a stop gives up on a database that hangs, and the next start replaces it', async () => {
    const server = await open();
    const postmaster = readPostmasterPid(dataDir);
    const processes = [postmaster, ...findChildren(postmaster).map(({ pid }) => pid)];
    for (const pid of processes) process.kill(pid, 'SIGSTOP');
    await server.close();
    expect(isAlive(postmaster)).toBe(true);
    for (const pid of processes) process.kill(pid, 'SIGCONT');
    const next = await open();
    expect(isAlive(postmaster)).toBe(false);
    expect(await answer(next.url)).toBe(1);
    await next.close();
  });

test('an interrupted first start is repeated from scratch', async () => {
  const half = await newDataDir();
  await mkdir(join(half, 'postgres.unfinished/cluster'), { recursive: true });
  await writeFile(join(half, 'postgres.unfinished/cluster/PG_VERSION'), '18\n');
  const server = await openEmbeddedServer({ dataDir: half, log });
  expect(await answer(server.url)).toBe(1);
  await server.close();
});

describe('while another process uses the directory', () => {
  test('a start is refused, and a command joins and leaves the database running', async () => {
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

  test('of two concurrent first starts, one succeeds and the other is refused', async () => {
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

  test('a start waits for the other process to stop', async () => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    other.child.kill('SIGTERM');
    const server = await openEmbeddedServer({ dataDir, log, lockWaitMs: 60_000 });
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });

  test('a command starts and stops the database when no other process runs it', async () => {
    const server = await open('join');
    const pid = readPostmasterPid(dataDir);
    await server.close();
    expect(isAlive(pid)).toBe(false);
  });
});

describe('the database stops with its process', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('on %s', async (signal) => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    const pid = readPostmasterPid(dataDir);
    other.child.kill(signal);
    await other.ended;
    expect(other.child.signalCode).toBe(signal);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await readFile(join(dataDir, 'postgres/server.log'), 'utf8')).toContain('database system is shut down');
  });

  test('on an uncaught exception', async () => {
    const other = startDatabaseProcess(dataDir, 'throw');
    await other.waitForLine('ready');
    const pid = readPostmasterPid(dataDir);
    await other.ended;
    expect(other.child.exitCode).toBe(1);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('except on kill -9, where the next start stops and replaces it', async () => {
    const other = startDatabaseProcess(dataDir, 'idle');
    await other.waitForLine('ready');
    const pid = readPostmasterPid(dataDir);
    other.child.kill('SIGKILL');
    await other.ended;
    expect(isAlive(pid)).toBe(true);
    const server = await open();
    expect(readPostmasterPid(dataDir)).not.toBe(pid);
    expect(await answer(server.url)).toBe(1);
    await server.close();
  });
});

test('a killed database restarts under the same connection string', async () => {
  const database = await openDatabase({ config: { dataDir, databaseUrl: null }, log });
  expect(await database.isReady()).toBe(true);
  const pid = readPostmasterPid(dataDir);
  process.kill(pid, 'SIGKILL');
  await expect
    .poll(() => database.isReady().then((ready) => ready && readPostmasterPid(dataDir) !== pid), { timeout: 20_000 })
    .toBe(true);
  await database.close();
});

test('a data directory with a path too long for a socket is served on loopback', async () => {
  const long = join(await newDataDir(), 'a-folder-with-a-long-name'.repeat(4));
  const server = await openEmbeddedServer({ dataDir: long, log });
  expect(server.url).toContain('127.0.0.1');
  expect(await answer(server.url)).toBe(1);
  await server.close();
});

test("the database's log is rotated while the database runs", async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const server = await open();
  const client = new pg.Client({ connectionString: server.url });
  try {
    const logFile = join(dataDir, 'postgres/server.log');
    const maxBytes = 10 * 1024 * 1024;
    await appendFile(logFile, `${'x'.repeat(maxBytes)}\n`);
    vi.advanceTimersByTime(60_000);
    await expect.poll(async () => (await stat(logFile)).size).toBeLessThan(maxBytes);
    expect((await stat(`${logFile}.1`)).size).toBeGreaterThan(maxBytes);
    await client.connect();
    await expect(client.query('select nonsense')).rejects.toThrow('nonsense');
    // A hole of null characters would show that PostgreSQL writes at its former place.
    expect(await readFile(logFile, 'utf8')).toMatch(/^[^\0]*column "nonsense" does not exist/);
  } finally {
    await client.end();
    await server.close();
    vi.useRealTimers();
  }
});

test("the database's log contains no user data from failed statements", async () => {
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
