/** Runs the real server in a child process, so that a test can kill it while its simulators keep running. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { programEnvironment } from '../support/servers/program-environment.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { waitForReadyUrl } from '../support/product.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'src', 'server');

/** A new account, with the headers that authenticate its requests. */
export type SignedUp = { userId: string; headers: Record<string, string> };

export type ServerProcess = {
  readonly db: TestDatabase;
  readonly url: string;
  /** Resolves when the server reports its URL. All jobs run at the start. */
  start(): Promise<ChildProcess>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  /** Runs an operator command in a child process. */
  admin(...args: string[]): ChildProcess;
  close(): Promise<void>;
};

export async function createServerProcess(
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const url = `http://localhost:${port}`;
  const [db, dataDir] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'hustle-forge-server-'))]);
  const env = serverEnvironment(port, dataDir, { DATABASE_URL: db.url, ...settings });
  let server: ChildProcess | null = null;

  async function kill(): Promise<void> {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  }

  return {
    db,
    url,
    kill,
    async start() {
      server = spawnServer(env);
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

/** Without `DATABASE_URL` in `settings`, the server starts the embedded database in `dataDir`. */
export function serverEnvironment(
  port: number,
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  return {
    ...programEnvironment(),
    ...{ PORT: String(port), PUBLIC_URL: `http://localhost:${port}`, DATA_DIR: dataDir },
    ...{ SANDBOX: 'off', AUTH_RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', ...settings },
  };
}

export const spawnServer = (env: NodeJS.ProcessEnv): ChildProcessByStdio<null, Readable, null> =>
  spawn(process.execPath, [join(SERVER, 'main.ts')], { env, stdio: ['ignore', 'pipe', 'inherit'] });

export async function signUpAt(url: string, email = 'ada@example.com'): Promise<SignedUp> {
  const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ email, password: 'correct horse' });
  const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body });
  const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
  return { userId: user.id, headers: { ...headers, authorization: `Bearer ${token}` } };
}
