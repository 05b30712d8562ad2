/** Kills the command `restore` around its commit, and starts the server afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { programEnvironment } from '../../../tests/support/product.ts';
import { withOrdinaryOwner, createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { generateJwk } from '../auth/keys/stored-keys.ts';
import { readConfig } from '../config/config.ts';
import { openDatabase } from '../database/connect.ts';
import { freePort } from '../database/embedded/endpoint.ts';
import { createLog } from '../log.ts';
import { startServer } from '../serve.ts';
import { runBackup } from './backup-command.ts';
import type { CommandDeps } from './command-line.ts';

const log = createLog('silent');
const PROGRAM = join(import.meta.dirname, 'restore-command.ts');
/** The message of PostgreSQL's protocol that sends `commit`. */
const COMMIT = Buffer.from('Q\0\0\0\u000bcommit\0');

let source: TestDatabase;
let folder: string;
beforeAll(async () => {
  source = await createTestDatabase();
  await source.admin.query("insert into auth.users (email) values ('new@example.com')");
  folder = await mkdtemp(join(tmpdir(), 'hustle-forge-interrupted-'));
});
afterAll(async () => {
  await source.drop();
  await rm(folder, { recursive: true });
});

/** Forwards to PostgreSQL until the commit. Then it holds back the commit itself, or only PostgreSQL's answer to it. */
async function startProxy(target: pg.Client, held: 'commit' | 'answer') {
  const reached = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(join(target.host, `.s.PGSQL.${target.port}`));
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    let isCommitting = false;
    client.on('data', (data) => {
      isCommitting ||= data.equals(COMMIT);
      if (isCommitting && held === 'commit') reached.resolve();
      else upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (isCommitting) reached.resolve();
      else client.write(data);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    reached: reached.promise,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function newKey(): Promise<{ dataDir: string; keyFile: string; key: string }> {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const [keyFile, key] = [join(dataDir, 'key.json'), JSON.stringify(await generateJwk())];
  await writeFile(keyFile, key, { mode: 0o600 });
  return { dataDir, keyFile, key };
}

const deps = (env: Record<string, string>): CommandDeps => ({
  env: { NODE_ENV: 'test', ...env },
  now: () => new Date('2026-11-23T06:30:00Z'),
  signal: new AbortController().signal,
  onProgress: () => undefined,
  warn: () => undefined,
  log,
});

test.concurrent.each([
  ['before its commit leaves the key as it was', 'commit', 'here', []],
  ['after its commit gets the key of the backup at the next start', 'answer', 'there', ['new@example.com']],
] as const)('a restore that is killed %s', async (_title, held, expected, users) => {
  const keys = { here: await newKey(), there: await newKey() };
  const file = join(folder, `${held}.tar.zst`);
  const { dataDir: otherDir, keyFile: otherKey } = keys.there;
  await runBackup([file], deps({ DATABASE_URL: source.url, DATA_DIR: otherDir, AUTH_SIGNING_KEY_FILE: otherKey }));
  await withOrdinaryOwner(source, async (url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const proxy = await startProxy(client, held);
    const { dataDir, keyFile, key } = keys.here;
    const settings = { DATA_DIR: dataDir, AUTH_SIGNING_KEY_FILE: keyFile };
    const proxied = `postgresql://${client.user}:${client.password}@127.0.0.1:${proxy.port}/${client.database}`;
    const restore = spawn(process.execPath, [PROGRAM, file, '--replace'], {
      env: { ...programEnvironment(), ...settings, DATABASE_URL: proxied },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await proxy.reached;
    restore.kill('SIGKILL');
    await once(restore, 'exit');
    proxy.close();
    expect(await readFile(keyFile, 'utf8')).toBe(key);
    const env = { ...settings, DATABASE_URL: url };
    await expect(runBackup([`${file}.2`], deps(env))).rejects.toThrow('a restore was interrupted');

    const config = readConfig({ ...env, PORT: String(await freePort()), NODE_ENV: 'test' });
    const server = await startServer({ config, database: await openDatabase({ config, log }), log });
    const jwks = await fetch(`${config.publicUrl}/auth/v1/.well-known/jwks.json`);
    const [{ x } = { x: '' }] = ((await jwks.json()) as { keys: { x: string }[] }).keys;
    expect(x).toBe((JSON.parse(keys[expected].key) as { x: string }).x);
    const { rows } = await client.query<{ email: string }>('select email from auth.users');
    expect(rows.map(({ email }) => email)).toEqual(users);
    const kept = (await readdir(dataDir)).filter((name) => name !== 'key.json');
    if (expected === 'here') expect(kept).toEqual([]);
    else {
      expect(kept).toEqual([expect.stringMatching(/^key\.json\.before-restore-\d{8}T\d{6}Z-[\da-f]{8}$/)]);
      expect(await readFile(join(dataDir, kept[0]!), 'utf8')).toBe(key);
    }
    await server.stop();
    await client.end();
  });
});
