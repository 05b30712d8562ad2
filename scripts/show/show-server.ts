/** The server that is pictured: the whole product with its sandbox, on an empty database of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../parent.ts';
import { stopProcess } from '../stop-process.ts';
import { showSettings } from './server-settings.ts';

const START_LIMIT_MS = 180_000;
const POLL_MS = 200;

export type ShowServer = {
  readonly url: string;
  /** The settings that an operator's command needs to reach the same database. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
};

export async function startShowServer(): Promise<ShowServer> {
  const port = process.env['PORT'] ?? '41380';
  const dataDir = join(ROOT, '.cache', `screenshots-${port}`);
  await rm(dataDir, { recursive: true, force: true });
  const env = { ...process.env, ...showSettings(port, dataDir) };
  const child = fork(join(ROOT, 'scripts', 'start.ts'), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const url = `http://localhost:${port}`;
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${String(code)}`);
  });
  await Promise.race([ready(url), ended]);
  // From here on its end is what `close` asks for.
  ended.catch(() => undefined);
  return {
    url,
    env,
    async close() {
      await stopProcess(child);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function ready(url: string): Promise<void> {
  const giveUp = Date.now() + START_LIMIT_MS;
  while (Date.now() < giveUp) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((waited) => setTimeout(waited, POLL_MS));
  }
  throw new Error('the server did not become ready');
}
