/** Starts the real server for a test: a real port, a migrated database of its own, a mailbox, PayPal, a model, a clock to move. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { readConfig } from '#server/config/config.ts';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { freePort } from '#server/free-port.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import type { Pool } from 'pg';
import { startModelServer } from '../../simulators/ai-model/server.ts';
import type { ModelServer } from '../../simulators/ai-model/server.ts';
import { startMailbox } from '../../simulators/mailbox.ts';
import { startPaypalServer } from '../../simulators/paypal/server.ts';
import type { PaypalServer } from '../../simulators/paypal/server.ts';
import { createTestDatabase } from './test-database.ts';

type Options = {
  /** Settings by the names an operator uses, over the defaults of a test: rate limits off, everything else as shipped. */
  settings?: Record<string, string>;
  /** Where log lines go; by default only errors are shown. */
  logTo?: { write(line: string): void };
  /** `on`: the jobs run as in a server of its own. Off, nothing happens that a test has not asked for. */
  jobs?: 'on';
};

/** Starts at the real time; `advance` moves it, so that nothing in a test has to wait. */
export type TestClock = Clock & { advance(ms: number): void };

export type TestServer = {
  readonly url: string;
  readonly config: Config;
  readonly database: Database;
  /** A superuser's connection, for looking at what was stored. */
  readonly admin: Pool;
  readonly mailbox: Awaited<ReturnType<typeof startMailbox>>;
  /** Follows the clock of the test. Its webhooks are held until the test delivers them. */
  readonly paypal: PaypalServer;
  /** The model that the coach asks. `settings` may name another of the protocols that it speaks: see `settingsFor`. */
  readonly model: ModelServer;
  readonly clock: TestClock;
  close(): Promise<void>;
};

export async function startTestServer(options: Options = {}): Promise<TestServer> {
  const clock = createTestClock();
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const [{ database, admin, drop }, mailbox, paypal, model, dataDir] = await Promise.all([
    createTestDatabase(),
    startMailbox(),
    startPaypalServer({ clock, publicUrl }),
    startModelServer(),
    mkdtemp(join(tmpdir(), 'hustle-forge-test-')),
  ]);
  const config = readConfig({
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir,
    AUTH_RATE_LIMITS: 'off',
    SMTP_URL: mailbox.smtpUrl,
    ...paypal.settings,
    ...model.settingsFor('google'),
    ...options.settings,
  });
  const log = options.logTo ? createLog('debug', options.logTo) : createLog('error');
  const serving = await serve({ config, database, clock, log });
  if (options.jobs === 'on') serving.startJobs();
  return {
    url: `http://localhost:${serving.port}`,
    config,
    database,
    admin,
    mailbox,
    paypal,
    model,
    clock,
    async close() {
      await serving.stop();
      await Promise.all([mailbox.close(), paypal.close(), model.close()]);
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function createTestClock(): TestClock {
  let aheadMs = 0;
  return { now: () => new Date(Date.now() + aheadMs), advance: (ms) => void (aheadMs += ms) };
}
