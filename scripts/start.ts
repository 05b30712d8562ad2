/** `npm start`: builds stale pages, starts the sandbox if it is on, then calls the server's `main` in this process. */
import { spawn } from 'node:child_process';
import { flushCompileCache } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { ConfigError, readConfig, prepareDataDirectory } from '#server/config/config.ts';
import { buildClient } from './build/build-client.ts';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { loadEnvFile, ROOT } from './project.ts';
import { startSandbox } from './sandbox/start-sandbox.ts';

if (import.meta.main) await start();

export async function start(): Promise<void> {
  loadEnvFile();
  exitWithParent();

  try {
    const config = readConfig();
    const { sandbox } = config;
    if (config.databaseUrl === null && process.platform !== 'win32') stopDatabaseAfterKill();
    // Before the simulators write there. `main` warns of its permissions.
    await prepareDataDirectory(config.dataDir, { warn: () => undefined });
    const [, addresses] = await Promise.all([
      buildClient(),
      sandbox.on && sandbox.url === null ? startSandbox(config) : null,
    ]);
    Object.assign(process.env, addresses);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = error instanceof ConfigError ? reason : `Hustle Forge cannot start: ${reason}`;
    process.stderr.write(`${message}\n`);
    process.exit(1);
  }

  const { main } = await import('../src/server/main.ts');
  await main();
  // Node also writes its compile cache on exit, but not after SIGKILL.
  flushCompileCache();
  if (process.env['SANDBOX_URL'])
    await (await import('./sandbox/register-sso-provider.ts')).offerSsoProvider(process.env);
}

/**
 * SIGKILL leaves the embedded database running. So a shell waits for the end of its input, which comes when this
 * process ends in any way, and then stops the database.
 */
function stopDatabaseAfterKill(): void {
  const script = join(ROOT, 'scripts', 'lifecycle', 'stop-database.ts');
  const shell = spawn('sh', ['-c', 'read -r line; exec "$0" "$1"', process.execPath, script], {
    // Out of the process group that Ctrl-C signals.
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  shell.unref();
  (shell.stdin as Socket).unref();
  process.on('exit', () => shell.kill());
}
