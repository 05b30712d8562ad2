/**
 * The whole product in a process of its own, as `npm start` runs it: built pages, sandbox and an empty embedded
 * database, but no rate limits. This file is the program of that process, too.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '#server/database/embedded/endpoint.ts';

export type Product = {
  readonly url: string;
  /** The environment of its server, for operator's commands on its database. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

/**
 * @param settings environment variables for this server only; `settingsOf` overwrites its own
 * @throws Error if the server exits before it is ready; its reason is on stderr
 */
export async function startProduct(settings: Readonly<Record<string, string>> = {}): Promise<Product> {
  const env = settingsOf(String(await freePort()));
  const server = fork(join(import.meta.dirname, 'product.ts'), {
    env: { ...process.env, ...settings, ...env },
    // A test runner's own options are not those of the server.
    execArgv: [],
    // The server exits when this IPC channel closes, so it does not outlive a worker that is killed.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(server, 'exit');
  const url = await waitForReadyUrl(server);
  return {
    url,
    env,
    async stop() {
      server.kill('SIGTERM');
      await exited;
    },
  };
}

/** Resolves with the address of the server's ready line. Later output is discarded. Throws if the program ends before. */
export async function waitForReadyUrl(program: ChildProcess): Promise<string> {
  const lines = createInterface({ input: program.stdout! });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const url = /^Hustle Forge is ready at (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    lines.once('close', () => reject(new Error('the program ended before it was ready')));
  });
}

const settingsOf = (port: string) => ({
  HOST: '127.0.0.1',
  PORT: port,
  PUBLIC_URL: `http://localhost:${port}`,
  DATA_DIR: join(tmpdir(), `hustle-forge-product-${port}`),
  DATABASE_URL: '',
  NODE_ENV: 'development',
  SANDBOX: 'on',
  AUTH_AUTOCONFIRM: 'on',
  AUTH_RATE_LIMITS: 'off',
  PAYMENT_BLOCKED_COUNTRIES: 'KP',
  LOG_LEVEL: 'error',
});

/** Environment of a program that a test starts: nothing but the path and Node's compile cache, which halves its start. */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});

if (import.meta.main) {
  const settings = settingsOf(process.env['PORT']!);
  const removeData = (): void => rmSync(settings.DATA_DIR, { recursive: true, force: true });
  removeData();
  process.once('exit', removeData);
  Object.assign(process.env, settings);
  const { start } = await import('../../scripts/start.ts');
  await start();
}
