/** Starts a PostgreSQL of the system, such as Debian's, in place of the embedded one. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { chooseServerUser, childEnvironment } from '#server/database/embedded/server-user.ts';

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
