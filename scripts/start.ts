/** `npm start`: builds stale pages, starts the sandbox if it is on, then calls the server's `main` in this process. */
import { flushCompileCache } from 'node:module';
import { ConfigError, readConfig, prepareDataDirectory } from '#server/config/config.ts';
import { buildClient } from './build/build-client.ts';
import { exitWithParent } from './child-processes.ts';
import { loadEnvFile } from './project.ts';
import { startSandbox } from './sandbox/start-sandbox.ts';

if (import.meta.main) await start();

export async function start(): Promise<void> {
  loadEnvFile();
  // SIGTERM makes the server shut down gracefully. Before it has installed its handler, the signal ends the process.
  exitWithParent(() => process.kill(process.pid, 'SIGTERM'));

  try {
    const config = readConfig();
    const { sandbox } = config;
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
