/**
 * Backups that take too long for each run of the tests: an external PostgreSQL 15, a million rows in bounded memory,
 * and a kill in the middle of a restore.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withOrdinaryOwner, createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { chooseServerUser } from '../database/embedded/server-user.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { freePort } from '../database/embedded/endpoint.ts';
import { createLog } from '../log.ts';
import { verifyArchive } from './read-archive.ts';

const POSTGRES_15 = '/usr/lib/postgresql/15/bin';
const MILLION = 1_000_000;
const MAX_PEAK_MB = 400;

let source: TestDatabase;
let folder: string;
beforeAll(async () => {
  source = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-backup-long-'));
  await source.admin.query("insert into auth.users (email) select n || '@example.com' from generate_series(1, 1000) n");
}, 60_000);
afterAll(async () => {
  await source.drop();
  await rm(folder, { recursive: true });
}, 60_000);

function start(command: 'backup' | 'restore', args: readonly string[], env: Record<string, string>): ChildProcess {
  const program = join(import.meta.dirname, `${command}-command.ts`);
  return spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Returns the highest memory of the process in megabytes. */
async function finish(child: ChildProcess): Promise<number> {
  let peakMb = 0;
  const sampling = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (text) => (peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024)),
      () => undefined,
    );
  }, 50);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(sampling);
  expect(code).toBe(0);
  return peakMb;
}

async function manifestOf(file: string) {
  const { manifest } = await verifyArchive({ file, identities: null });
  return { ...manifest, header: '' };
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A server of Debian's PostgreSQL 15, which refuses to run as root. */
async function withPostgres15<T>(work: (url: string) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'hustle-forge-pg15-'));
  const user = await chooseServerUser(data);
  await chmod(data, 0o700);
  if (user !== null) await chown(data, user.uid, user.gid);
  const port = await freePort();
  const options = { ...user, cwd: data };
  await promisify(execFile)(join(POSTGRES_15, 'initdb'), ['-D', data, '-U', 'forge', '-A', 'trust'], options);
  const flags = ['-D', data, '-p', String(port), '-k', data, '-h', '127.0.0.1'];
  const server = spawn(join(POSTGRES_15, 'postgres'), flags, { ...options, stdio: 'ignore' });
  try {
    const url = `postgresql://forge:geheim@127.0.0.1:${port}/postgres`;
    await expect
      .poll(
        () =>
          query(url, 'select').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    return await work(url);
  } finally {
    server.kill('SIGINT');
    await once(server, 'exit');
    await rm(data, { recursive: true });
  }
}

describe('the long form', () => {
  test.skipIf(!existsSync(POSTGRES_15))(
    'restores into PostgreSQL 15 and back, with the same content',
    async () => {
      const first = join(folder, 'first.tar.zst');
      await finish(start('backup', [first], { DATABASE_URL: source.url, DATA_DIR: folder }));
      await withPostgres15(async (url) => {
        const env = { DATABASE_URL: url, DATA_DIR: folder };
        await finish(start('restore', [first], env));
        const second = join(folder, 'second.tar.zst');
        await finish(start('backup', [second], env));
        expect(await manifestOf(second)).toEqual(await manifestOf(first));
      });
    },
    120_000,
  );

  test('a million rows need bounded memory, and a restore that is killed leaves the database as it was', async () => {
    await source.admin.query(
      `insert into entries (user_id, date, content)
           select id, date '2000-01-01' + day, '<p>' || md5(id::text || day) || '</p>'
             from auth.users, generate_series(0, $1::int / 1000 - 1) day`,
      [MILLION],
    );
    const file = join(folder, 'million.tar.zst');
    const backupPeakMb = await finish(start('backup', [file], { DATABASE_URL: source.url, DATA_DIR: folder }));
    expect((await manifestOf(file)).tables['public.entries']!.rows).toBe(MILLION);
    await withOrdinaryOwner(source, async (url) => {
      await migrate(url, createLog('silent'));
      await query(url, "insert into auth.users (email) values ('before@example.com')");
      const env = { DATABASE_URL: url, DATA_DIR: folder };
      const killed = start('restore', [file, '--replace'], env);
      const copying = `select from pg_stat_progress_copy where datname = current_database() and tuples_processed > 10000`;
      await expect.poll(() => query(url, copying), { timeout: 60_000 }).toHaveLength(1);
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      expect(await query(url, 'select email from auth.users')).toEqual([{ email: 'before@example.com' }]);
      const restorePeakMb = await finish(start('restore', [file, '--replace'], env));
      expect(await query(url, 'select count(*)::int as count from auth.users')).toEqual([{ count: 1_000 }]);
      const { size } = await stat(file);
      process.stdout.write(`peak memory: backup ${backupPeakMb} MB, restore ${restorePeakMb} MB, file ${size} bytes\n`);
      expect(Math.max(backupPeakMb, restorePeakMb)).toBeLessThan(MAX_PEAK_MB);
    });
  }, 600_000);
});
