/** Vitest `globalSetup`: starts the built product for the tests in this folder, on a free port. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '#server/free-port.ts';

export const PRODUCT_URL_VARIABLE = 'TEST_PRODUCT_URL';
const START_LIMIT_MS = 120_000;
const POLL_MS = 100;

export default async function startProduct(): Promise<() => Promise<void>> {
  const port = await freePort();
  const server = spawn(process.execPath, [join(import.meta.dirname, '..', 'e2e', 'support', 'server.ts')], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill();
    await ended;
  };
  const url = `http://localhost:${port}`;
  const since = Date.now();
  while (!(await isReady(url))) {
    if (server.exitCode === null && Date.now() - since < START_LIMIT_MS) {
      await new Promise((again) => setTimeout(again, POLL_MS));
      continue;
    }
    await stop();
    throw new Error('the server for the browsers did not start');
  }
  process.env[PRODUCT_URL_VARIABLE] = url;
  return stop;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
