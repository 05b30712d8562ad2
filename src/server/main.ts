/**
 * Starts the server, and the jobs once it answers. Stops it in order: no new requests, saves and jobs under way finish,
 * mail leaves, the database closes.
 */
import { ConfigError, readConfig } from './config.ts';
import type { Config } from './config.ts';
import { systemClock } from './clock.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { openDatabase } from './database/connect.ts';
import { createLog } from './log.ts';
import type { Logger } from './log.ts';
import { serve } from './serve.ts';

if (import.meta.main) await main();

/** Resolves once the server answers; a server that cannot start says why and ends the process. */
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
    log.warn('no PAYPAL_WEBHOOK_ID: that money went back is noticed within a day, and some chargebacks not at all');
  if (config.coach === null) log.warn('no AI_PROVIDER: there is no coach');

  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    stopping ??= serving
      .stop()
      .then(() => database.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly');
          process.exit(1);
        },
      );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  process.stdout.write(`Hustle Forge is ready at ${config.publicUrl}\n`);
  serving.startJobs();
}
