/** Vitest `globalSetup`: one PostgreSQL per test run with a migrated template database that each test file copies. */
import { mkdtemp, rm, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbeddedServer } from '#server/database/embedded/server.ts';
import { migrate } from '#server/database/migrations/migrate.ts';
import { requestConnection } from '#server/database/roles.ts';
import { createLog } from '#server/log.ts';
import { partitionTables, PARTITIONS } from './partition-tables.ts';
import { startPgBouncer } from './servers/pgbouncer.ts';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chooseServerUser, childEnvironment } from '#server/database/embedded/server-user.ts';

/** Environment variable with the owner's connection string to the template. */
export const TEMPLATE_URL_VARIABLE = 'TEST_DATABASE_TEMPLATE_URL';

/** Environment variable with the owner's connection string through a pooler; tests of `npm run test:pooler` have it. */
export const POOL_URL_VARIABLE = 'TEST_DATABASE_POOL_URL';
/** A folder with `initdb` and `postgres`: the tests run on this PostgreSQL (`npm run test:postgres15`). */
export const PROGRAMS_VARIABLE = 'TEST_POSTGRES_PROGRAMS';
/** A command as a JSON list: the requests of the tests go through this PgBouncer. */
const PGBOUNCER_VARIABLE = 'TEST_PGBOUNCER';

/** Test data needs no durability. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };
/** By default, PostgreSQL 18 hands each read to another process, which is slower for files in the system cache. */
const EMBEDDED_SETTINGS = { io_method: 'sync' };

/**
 * Stores the passwords of the roles that log in with one iteration of SCRAM instead of 4,096, which would take
 * more than half of the CPU time of the run's 3,000 connections. PostgreSQL 15 lacks the setting.
 */
async function hashPasswordsOnce(url: string): Promise<void> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    await owner.query('set scram_iterations = 1');
    for (const { user, password } of [owner, requestConnection(url)])
      await owner.query(`alter role ${pg.escapeIdentifier(user!)} password ${pg.escapeLiteral(password as string)}`);
  } finally {
    await owner.end();
  }
}

/** Returns a function that stops the server. A second test project of the same run reuses the first one's server. */
export default async function startTestDatabaseServer(): Promise<() => Promise<void>> {
  if (process.env[TEMPLATE_URL_VARIABLE]) return () => Promise.resolve();
  const dataDir = await mkdtemp(join(tmpdir(), 'hustle-forge-tests-'));
  const log = createLog('error');
  const programs = process.env[PROGRAMS_VARIABLE];
  const server = programs
    ? await startPostgres(programs, FAST_SETTINGS)
    : await openEmbeddedServer({ dataDir, log, settings: { ...FAST_SETTINGS, ...EMBEDDED_SETTINGS } });
  await migrate(server.url, log);
  if (!programs) await hashPasswordsOnce(server.url);
  if (PARTITIONS > 0) await partitionTables(server.url, PARTITIONS);
  const command = process.env[PGBOUNCER_VARIABLE];
  const pooler = command
    ? await startPgBouncer({ command: JSON.parse(command) as string[], serverUrl: server.url })
    : null;
  process.env[TEMPLATE_URL_VARIABLE] = server.url;
  if (pooler) process.env[POOL_URL_VARIABLE] = pooler.url;
  return async () => {
    delete process.env[TEMPLATE_URL_VARIABLE];
    delete process.env[POOL_URL_VARIABLE];
    await pooler?.stop();
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}

const OWNER = 'hustle_forge';
const START_LIMIT_MS = 30_000;
const POLL_MS = 50;

export type PostgresServer = { url: string; close(): Promise<void> };

/** @param programs the folder with `initdb` and `postgres`, such as /usr/lib/postgresql/15/bin */
export async function startPostgres(programs: string, settings: Record<string, string>): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-postgres-'));
  const cluster = join(folder, 'cluster');
  const passwordFile = join(folder, 'password');
  const password = randomBytes(16).toString('hex');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await mkdir(cluster, { mode: 0o700 });
  const user = await chooseServerUser(cluster);
  if (user) for (const path of [folder, cluster, passwordFile]) await chown(path, user.uid, user.gid);
  const options = { ...user, cwd: folder, env: childEnvironment() };
  await promisify(execFile)(
    join(programs, 'initdb'),
    [
      ...['-D', cluster, '--username', OWNER, '--auth', 'scram-sha-256', '--pwfile', passwordFile],
      ...['--encoding', 'UTF8', '--locale', 'C.UTF-8', '--no-instructions', '--no-sync'],
    ],
    options,
  );
  const flags = Object.entries({ ...settings, listen_addresses: '', unix_socket_directories: folder, timezone: 'UTC' });
  const log = join(folder, 'server.log');
  const child = spawn(
    '/bin/sh',
    ['-c', 'log="$1"; shift; exec "$@" >"$log" 2>&1', 'sh', log, join(programs, 'postgres'), '-D', cluster].concat(
      flags.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ),
    { ...options, stdio: 'ignore' },
  );
  const url = (database: string): string => `postgresql://${OWNER}:${password}@/${database}?host=${folder}&port=5432`;
  for (const since = Date.now(); ; await delay(POLL_MS)) {
    const client = new pg.Client({ connectionString: url('postgres') });
    try {
      await client.connect();
      await client.query(`create database ${OWNER}`);
      await client.end();
      break;
    } catch (error) {
      if (child.exitCode === null && Date.now() - since < START_LIMIT_MS) continue;
      throw new Error(`${programs}/postgres did not start: ${await readFile(log, 'utf8').catch(() => '')}`, {
        cause: error,
      });
    }
  }
  return {
    url: url(OWNER),
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
