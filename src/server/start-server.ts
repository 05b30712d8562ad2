/** Opens the database and serves, as the only process or as one of several workers. */
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { openDatabase, type DatabaseOptions } from './database/connect.ts';
import type { Logger } from './log.ts';
import { serve, type RunningServer, type ServeDeps } from './serve.ts';

type Deps = {
  config: Config;
  log: Logger;
  /** A worker joins the embedded database, which its supervisor has started. */
  whenRunning?: DatabaseOptions['whenRunning'];
  scrape?: ServeDeps['scrape'];
};

/** `stop` also closes the database. */
export type StartedServer = Omit<RunningServer, 'port'>;

/** Resolves once the server accepts requests. */
export async function startServer({ config, log, whenRunning, scrape }: Deps): Promise<StartedServer> {
  const database = await openDatabase({ config, log, ...(whenRunning && { whenRunning }) });
  const deps = { config, database, clock: systemClock, log, ...(scrape && { scrape }) };
  const serving = await serve(deps).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return {
    ...serving,
    async stop() {
      await serving.stop();
      await database.close();
    },
  };
}
