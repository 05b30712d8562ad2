/**
 * Puts the server together from its settings and a database, and starts listening. `main.ts` and the tests both come
 * through here, so what is tested is what runs.
 */
import { join } from 'node:path';
import { createApp } from './app.ts';
import { createAccessTokens } from './auth/access-tokens.ts';
import { loadSigningKeys } from './auth/signing-keys.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { listen } from './http/listen.ts';
import { createMetrics } from './http/metrics.ts';
import { securityHeaders } from './http/security-headers.ts';
import type { Logger } from './log.ts';
import { createMailer } from './mail/mailer.ts';
import { loadSite } from './site/pages.ts';

const BUILT_CLIENT = join(import.meta.dirname, '..', '..', 'dist');

type Given = { config: Config; database: Database; clock: Clock; log: Logger };

export type Serving = {
  readonly port: number;
  /** Requests under way finish, mail that waits is sent; the database is the caller's to close. */
  stop(): Promise<void>;
};

export async function serve({ config, database, clock, log }: Given): Promise<Serving> {
  const mailer = createMailer(config.mail, log);
  const keys = await loadSigningKeys({ signingKeyFile: config.auth.signingKeyFile, dataDir: config.dataDir });
  const accessTokens = createAccessTokens({ keys, issuer: `${config.publicUrl}/auth/v1`, clock, database });
  const site = await loadSite(BUILT_CLIENT, config);
  const metrics = createMetrics();
  const app = createApp({ config, database, clock, log, metrics, mailer, accessTokens, site });
  const { host, port } = config;
  const listening = await listen({ host, port, headers: securityHeaders(config), fetch: app.fetch });
  return {
    port: listening.port,
    async stop() {
      await listening.stop();
      await mailer.close();
    },
  };
}
