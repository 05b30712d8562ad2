/** Starts a PgBouncer in front of a PostgreSQL with a Unix socket. The program is not part of the project. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import { freePort } from '#server/database/embedded/endpoint.ts';

const START_LIMIT_MS = 10_000;
const POLL_MS = 50;

export type PgBouncer = {
  /** The address for `DATABASE_POOL_URL`, with the owner's credentials. */
  url: string;
  stop(): Promise<void>;
};

type Options = {
  /** The program with its first arguments, such as `/usr/sbin/pgbouncer`. */
  command: readonly string[];
  /** The owner's connection string with the folder of the Unix socket. */
  serverUrl: string;
  /** Lines for the section `pgbouncer`, which override those below. */
  settings?: Record<string, string>;
};

export async function startPgBouncer({ command, serverUrl, settings = {} }: Options): Promise<PgBouncer> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: serverUrl });
  const folder = await mkdtemp(join(tmpdir(), 'hustle-forge-pgbouncer-'));
  const listenPort = await freePort();
  const main = {
    listen_addr: '127.0.0.1',
    listen_port: String(listenPort),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    auth_user: user,
    auth_query: 'select usename, passwd from pg_catalog.pg_shadow where usename = $1',
    pool_mode: 'transaction',
    // Fewer than the 16 connections of a server, so that connections share sessions. More than the eight that one
    // user's requests may hold, so that other users still get one.
    default_pool_size: '12',
    max_client_conn: '1000',
    server_login_retry: '1',
    ...(readPgBouncerVersion(command).hasStatements && { max_prepared_statements: '200' }),
    ...settings,
  };
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}`);
  // PgBouncer runs as the user of PostgreSQL in the folder of the socket, which other users may not reach by its path.
  const config = `[databases]\n* = host=/proc/self/cwd port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`;
  const owner = await stat(host);
  await writeFile(join(folder, 'pgbouncer.ini'), config);
  await writeFile(join(folder, 'users'), `"${user}" "${password}"\n`);
  for (const name of ['', 'pgbouncer.ini', 'users']) await chown(join(folder, name), owner.uid, owner.gid);
  const [program = '', ...first] = command;
  const child = spawn(program, [...first, join(folder, 'pgbouncer.ini')], {
    cwd: host,
    ...(process.getuid?.() === 0 && { uid: owner.uid, gid: owner.gid }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (data: Buffer) => (output = (output + data.toString()).slice(-4_000)));
  const url = `postgresql://${user}:${password}@127.0.0.1:${listenPort}/${database}?`;
  // Another database than the owner's, which cannot be copied while the pooler has a session in it.
  const ready = url.replace(`/${database}?`, '/postgres?');
  for (const since = Date.now(); ; await delay(POLL_MS)) {
    const client = new pg.Client({ connectionString: ready });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (child.exitCode !== null || Date.now() - since > START_LIMIT_MS)
        throw new Error(`PgBouncer did not start: ${output}`, { cause: error });
    }
  }
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * `hasStatements`: it prepares a client's statement on every server connection on which the client executes it, which
 * begins with 1.21.
 */
export function readPgBouncerVersion([program = '', ...first]: readonly string[]) {
  const { stdout } = spawnSync(program, [...first, '--version'], { encoding: 'utf8' });
  const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return { version: `${major}.${minor}`, hasStatements: Number(major) > 1 || Number(minor) >= 21 };
}
