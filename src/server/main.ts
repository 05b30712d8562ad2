/**
 * Entry point: serves in this process, or supervises several that do (`WEB_CONCURRENCY`). Graceful shutdown: stop
 * accepting requests, finish requests and jobs in flight, send queued mail, close the database.
 */
import { ConfigError, readConfig, prepareDataDirectory, type Config } from './config/config.ts';
import { createLog, type Logger } from './log.ts';

if (import.meta.main) await main();

/** Resolves once the server accepts requests; on failure it prints the reason and exits. */
export async function main(): Promise<void> {
  const config = readConfigOrExit();
  try {
    await run(config, createLog(config.logLevel));
  } catch (error) {
    process.stderr.write(`Hustle Forge cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function run(config: Config, log: Logger): Promise<void> {
  await prepareDataDirectory(config.dataDir, log);
  warnOfMissingSettings(config, log);
  // Imported only where needed: without the modules of a server, the supervisor takes half of a server's memory.
  if (config.workers > 1) return (await import('./workers/supervisor.ts')).superviseWorkers({ config, log });
  const { openDatabase } = await import('./database/connect.ts');
  // PostgreSQL starts while this process loads its modules.
  const [database, { startServer }] = await Promise.all([openDatabase({ config, log }), import('./serve.ts')]);
  const server = await startServer({ config, database, log });
  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    stopping ??= server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  // A supervisor restarts its workers on SIGHUP. Without workers no process could serve meanwhile, so SIGHUP stops.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  process.stdout.write(`Hustle Forge is ready at ${config.publicUrl}\n`);
  server.startJobs();
  return undefined;
}

function warnOfMissingSettings({ auth, coach, environment, mail, paypal }: Config, log: Logger): void {
  if (mail.smtpUrl === null) log.warn('no SMTP_URL: mail is off, so nobody can reset a password');
  if (paypal === null) log.warn('no PAYPAL_CLIENT_ID: payments are off, so nobody can become a Closer');
  else if (paypal.webhookId === null)
    log.warn('no PAYPAL_WEBHOOK_ID: refunds are detected within a day, some chargebacks are not detected');
  if (coach === null) log.warn('no AI_PROVIDER: there is no coach');
  if (environment === 'production' && auth.autoconfirm && mail.smtpUrl !== null)
    log.warn('AUTH_AUTOCONFIRM is on: anybody can use an account with an address until its owner proves the address');
}
