import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../project.ts';
import { stopProcess } from '../lifecycle/stop-process.ts';
import { sandboxedServerSettings } from './server-settings.ts';

const START_TIMEOUT_MS = 180_000;
const POLL_INTERVAL_MS = 200;

export type ScreenshotServer = {
  readonly url: string;
  /** The environment for admin commands on the same database. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
};

/** Starts the product with its sandbox on an empty database. */
export async function startScreenshotServer(): Promise<ScreenshotServer> {
  const port = process.env['PORT'] ?? '41380';
  const dataDir = join(ROOT, '.cache', `screenshots-${port}`);
  await rm(dataDir, { recursive: true, force: true });
  const env = { ...process.env, ...sandboxedServerSettings(port, dataDir) };
  const child = fork(join(ROOT, 'scripts', 'start.ts'), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const url = `http://localhost:${port}`;
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the server exited with ${String(code)}`);
  });
  await Promise.race([waitUntilReady(url), exited]);
  // `close` causes an exit too. Without a handler, that exit would be an unhandled rejection.
  exited.catch(() => undefined);
  return {
    url,
    env,
    async close() {
      await stopProcess(child);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
  throw new Error('the server did not become ready in time');
}
