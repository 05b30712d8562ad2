/** `npm start`: builds the pages when they are stale, starts the sandbox where it is on, and becomes the server. */
import { flushCompileCache } from 'node:module';
import { ConfigError, readConfig } from '../src/server/config.ts';
import { buildClient } from './build-client.ts';
import { endWithParent, loadEnvFile } from './parent.ts';
import { startSandbox } from './sandbox.ts';

if (import.meta.main) await start();

export async function start(): Promise<void> {
  loadEnvFile();
  // The server stops in order on SIGTERM, so that is what a lost parent becomes. Before it listens, the signal just ends us.
  endWithParent(() => process.kill(process.pid, 'SIGTERM'));

  try {
    const config = readConfig();
    const { sandbox } = config;
    const [, addresses] = await Promise.all([
      buildClient(),
      sandbox.on && sandbox.url === null ? startSandbox(config) : null,
    ]);
    Object.assign(process.env, addresses);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const told = error instanceof ConfigError ? reason : `Hustle Forge cannot start: ${reason}`;
    process.stderr.write(`${told}\n`);
    process.exit(1);
  }

  const { main } = await import('../src/server/main.ts');
  await main();
  // Written at the end of the process as well, which a kill -9 would skip.
  flushCompileCache();
}
