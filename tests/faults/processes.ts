/**
 * The child processes that the tests of faults kill: the real server, while its simulators keep running, the script of
 * `npm start` with all processes that it starts, and a program that writes into the embedded database.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { programEnvironment, waitForReadyUrl } from '../support/product.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { expect } from 'vitest';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startPaypalServer, type PaypalServer } from '../../simulators/paypal/server.ts';

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

const ROOT = join(import.meta.dirname, '..', '..');

type Process = { pid: number; parent: number; state: string; command: string };

export type StartedProgram = {
  readonly url: string;
  /** The process of `scripts/run.mjs start`, which `npm start` runs. The server takes its place. */
  readonly script: ChildProcess;
  /** The script and all its descendants, listed when the program was ready. */
  readonly processes: readonly Process[];
  /** Resolves with the exit code, or the signal, of the script. */
  readonly ended: Promise<number | string>;
};

export async function startProgram(dataDir: string): Promise<StartedProgram> {
  const port = await freePort();
  const script = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'start'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(script, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const url = await waitForReadyUrl(script);
  return { url, script, processes: descendantsOf(script.pid!), ended };
}

/** Resolves when the server accepts no more connections. */
export async function waitUntilClosed(url: string): Promise<void> {
  const isOpen = () =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
  await expect.poll(isOpen).toBe(false);
}

function allProcesses(): Process[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return list.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state: state!, command: command! }];
  });
}

export const findChildren = (pid: number): Process[] => allProcesses().filter(({ parent }) => parent === pid);

function descendantsOf(root: number): Process[] {
  const all = allProcesses();
  const found = all.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** Returns the given processes that still run. A zombie has ended. */
export function findRunning(processes: readonly Process[]): string[] {
  const now = new Map(allProcesses().map((running) => [running.pid, running]));
  return processes
    .filter(({ pid, command }) => now.get(pid)?.command === command && !now.get(pid)!.state.startsWith('Z'))
    .map(({ pid, command }) => `${pid} ${command}`);
}

const PROGRAM = fileURLToPath(new URL('open-database.ts', import.meta.url));

export type DatabaseProcess = {
  child: ChildProcess;
  /** Resolves with the first line that begins with `beginning`. */
  waitForLine(beginning: string): Promise<string>;
  /** All lines so far. */
  lines: string[];
  /** Resolves when the process has ended and its output has been read. */
  ended: Promise<void>;
};

export function startDatabaseProcess(dataDir: string, mode: 'idle' | 'write' | 'throw'): DatabaseProcess {
  const child = spawn(process.execPath, [PROGRAM, dataDir, mode], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  return {
    child,
    lines,
    ended: Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => undefined),
    waitForLine: (beginning) =>
      new Promise((resolve, reject) => {
        const existing = lines.find((line) => line.startsWith(beginning));
        if (existing !== undefined) return resolve(existing);
        reader.on('line', (line) => line.startsWith(beginning) && resolve(line));
        reader.once('close', () =>
          reject(new Error(`ended without "${beginning}", after: ${lines.slice(-3).join(' | ')}`)),
        );
      }),
  };
}

/** Returns the pid of the PostgreSQL that serves the directory. */
export function readPostmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]);
}

export type Answer = { status: number; json: Record<string, unknown> };

export type PaymentServer = ServerProcess & {
  readonly paypal: PaypalServer;
  /** Creates an account. `call` invokes a server function as its user. */
  signUp(): Promise<{ userId: string; call(name: string, body: object): Promise<Answer> }>;
};

export async function createPaymentServer(): Promise<PaymentServer> {
  const port = await freePort();
  const paypal = await startPaypalServer({ publicUrl: `http://localhost:${port}` });
  const server = await createServerProcess(port, paypal.settings);
  const { url } = server;
  return {
    ...server,
    paypal,
    async signUp() {
      const { userId, headers } = await signUpAt(url);
      return {
        userId,
        async call(name, fields) {
          const body = JSON.stringify({ ...fields, user_id: userId });
          const answer = await fetch(`${url}/functions/v1/${name}`, { method: 'POST', headers, body });
          return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
        },
      };
    },
    async close() {
      await server.close();
      await paypal.close();
    },
  };
}
