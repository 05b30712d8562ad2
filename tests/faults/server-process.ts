/**
 * The real server in a process of its own, on a database of the test: it dies while the test, and the outside services in
 * it, live on.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { waitForReadyUrl } from './app-process.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'src', 'server');

/** Somebody who has an account; with these headers a request is theirs. */
export type SignedUp = { userId: string; headers: Record<string, string> };

export type ServerProcess = {
  readonly db: TestDatabase;
  readonly url: string;
  /** Resolves once it says that it is ready. Its jobs run at its start. */
  start(): Promise<ChildProcess>;
  /** kill -9, and the wait until it is gone. */
  kill(): Promise<void>;
  /** An operator's command, in a process of its own. */
  admin(...args: string[]): ChildProcess;
  close(): Promise<void>;
};

export async function createServerProcess(
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const url = `http://localhost:${port}`;
  const [db, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'hustle-forge-server-'))]);
  const env = {
    ...{ PATH: process.env['PATH'], PORT: String(port), PUBLIC_URL: url, DATA_DIR: dataDir, DATABASE_URL: db.url },
    ...{ SANDBOX: 'off', AUTH_RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', ...settings },
  };
  let server: ChildProcess | null = null;

  async function kill(): Promise<void> {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  }

  return {
    db,
    url,
    kill,
    async start() {
      server = spawn(process.execPath, [join(SERVER, 'main.ts')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      await waitForReadyUrl(server);
      return server;
    },
    admin: (...args) => spawn(process.execPath, [join(SERVER, 'admin.ts'), ...args], { env, stdio: 'ignore' }),
    async close() {
      await kill();
      await db.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function signUpAt(url: string): Promise<SignedUp> {
  const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ email: 'ada@example.com', password: 'correct horse' });
  const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body });
  const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
  return { userId: user.id, headers: { ...headers, authorization: `Bearer ${token}` } };
}
