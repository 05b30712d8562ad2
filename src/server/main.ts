/**
 * Entry point: starts the server, then the jobs. Graceful shutdown: stop accepting requests, finish requests and jobs
 * in flight, send queued mail, close the database.
 */
import { ConfigError, readConfig } from './config/config.ts';
import type { Config } from './config/config.ts';
import { systemClock } from './clock.ts';
import { prepareDataDirectory } from './config/data-directory.ts';
import { openDatabase } from './database/connect.ts';
import { createLog } from './log.ts';
import type { Logger } from './log.ts';
import { serve } from './serve.ts';

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
  const database = await openDatabase({ config, log });
  const serving = await serve({ config, database, clock: systemClock, log }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  if (config.mail.smtpUrl === null) log.warn('no SMTP_URL: mail is off, so nobody can reset a password');
  if (config.paypal === null) log.warn('no PAYPAL_CLIENT_ID: payments are off, so nobody can become a Closer');
  else if (config.paypal.webhookId === null)
    log.warn('no PAYPAL_WEBHOOK_ID: refunds are detected within a day, some chargebacks are not detected');
  if (config.coach === null) log.warn('no AI_PROVIDER: there is no coach');
  const { autoconfirm, oauthProviders } = config.auth;
  if (config.environment === 'production' && autoconfirm && oauthProviders.length > 0)
    log.warn('AUTH_AUTOCONFIRM is on: an unproven address shares its account with the provider sign-in of its owner');

  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    stopping ??= serving
      .stop()
      .then(() => database.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'shutdown failed');
          process.exit(1);
        },
      );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  process.stdout.write(`Hustle Forge is ready at ${config.publicUrl}\n`);
  serving.startJobs();
}
