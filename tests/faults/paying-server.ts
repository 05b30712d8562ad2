/** The real server process with PayPal's simulator beside it in the test, so that one can die while the other answers. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PUBLISHABLE_KEY } from '#server/config.ts';
import { freePort } from '#server/free-port.ts';
import { startPaypalServer } from '../../simulators/paypal/server.ts';
import type { PaypalServer } from '../../simulators/paypal/server.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

const SERVER = join(import.meta.dirname, '..', '..', 'src', 'server');

export type Answer = { status: number; json: Record<string, unknown> };

export type PayingServer = {
  readonly db: TestDatabase;
  readonly paypal: PaypalServer;
  /** Resolves once it says that it is ready. Its jobs run at its start. */
  start(): Promise<void>;
  /** kill -9, and the wait until it is gone. */
  kill(): Promise<void>;
  /** An operator's command, in a process of its own. */
  admin(...args: string[]): ChildProcess;
  /** Signs somebody up. Answers how they call a function of the server. */
  signUp(): Promise<{ userId: string; call(name: string, body: object): Promise<Answer> }>;
  close(): Promise<void>;
};

export async function createPayingServer(): Promise<PayingServer> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const [db, paypal, dataDir] = await Promise.all([
    createTestDatabase(),
    startPaypalServer({ publicUrl: url }),
    mkdtemp(join(tmpdir(), 'hustle-forge-paying-')),
  ]);
  const env = {
    ...{ PATH: process.env['PATH'], PORT: String(port), PUBLIC_URL: url, DATA_DIR: dataDir, DATABASE_URL: db.url },
    ...{ SANDBOX: 'off', AUTH_RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', ...paypal.settings },
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
    paypal,
    kill,
    async start() {
      server = spawn(process.execPath, [join(SERVER, 'main.ts')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      for await (const line of createInterface({ input: server.stdout! })) {
        if (line.startsWith('Hustle Forge is ready')) return;
      }
      throw new Error('the server never said that it is ready');
    },
    admin: (...args) => spawn(process.execPath, [join(SERVER, 'admin.ts'), ...args], { env, stdio: 'ignore' }),
    async signUp() {
      const headers = { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' };
      const body = JSON.stringify({ email: 'ada@example.com', password: 'correct horse' });
      const signedUp = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body });
      const { access_token: token, user } = (await signedUp.json()) as { access_token: string; user: { id: string } };
      return {
        userId: user.id,
        async call(name, given) {
          const answer = await fetch(`${url}/functions/v1/${name}`, {
            method: 'POST',
            headers: { ...headers, authorization: `Bearer ${token}` },
            body: JSON.stringify({ ...given, user_id: user.id }),
          });
          return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
        },
      };
    },
    async close() {
      await kill();
      await paypal.close();
      await db.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
