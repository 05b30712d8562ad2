/**
 * Starts the real server for a test, with its own port, database, mailbox, simulators of PayPal, the model and, on
 * request, text messages, and a movable clock.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { readConfig, type Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { createLog } from '#server/log.ts';
import { serve } from '#server/serve.ts';
import type { Pool } from 'pg';
import { startModelServer, type ModelServer } from '../../simulators/ai-model/server.ts';
import { startMailbox } from '../../simulators/mailbox.ts';
import { startPaypalServer, type PaypalServer } from '../../simulators/paypal/server.ts';
import { startSmsServer, type SmsServer } from '../../simulators/sms/server.ts';
import { fastPasswords } from './passwords.ts';
import { createTestDatabase } from './test-database.ts';

type Options = {
  /** Environment settings. They override the test settings below, which turn rate limits off. */
  settings?: Record<string, string>;
  /** Destination of all log lines from the level debug up. Without it, only errors are logged, to stdout. */
  logTo?: { write(line: string): void };
  /** Runs the background jobs. Off by default, so that tests are deterministic. */
  jobs?: 'on';
  /** Starts the SMS simulator and points the server at it. Off by default: sign-in by phone is then disabled. */
  sms?: 'on';
  /** Serves the built pages. Off by default: reading and compressing them takes a third of the server's start. */
  pages?: 'on';
  /** Hashes passwords at the cost of production, in a thread of the server. Without it, see `fastPasswords`. */
  passwords?: 'real';
};

/** Runs with the real time. `advance` moves the clock ahead, so that tests do not wait. */
export type TestClock = Clock & { advance(ms: number): void };

export type TestServer = {
  readonly url: string;
  readonly config: Config;
  readonly database: Database;
  /** The owner's connection string, as DATABASE_URL would have it. */
  readonly databaseUrl: string;
  /** A superuser's connections for assertions on stored rows. */
  readonly admin: Pool;
  readonly mailbox: Awaited<ReturnType<typeof startMailbox>>;
  /** PayPal's simulator. It uses the test's clock and holds its webhooks until the test delivers them. */
  readonly paypal: PaypalServer;
  /** The model simulator. The server uses Google's protocol unless `settings` has another from `settingsFor`. */
  readonly model: ModelServer;
  /** The SMS simulator with the test's clock; null unless the options have `sms`. */
  readonly sms: SmsServer | null;
  readonly clock: TestClock;
  close(): Promise<void>;
};

export async function startTestServer(options: Options = {}): Promise<TestServer> {
  const clock = createTestClock();
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const [{ database, url: databaseUrl, admin, drop }, mailbox, paypal, model, sms, dataDir] = await Promise.all([
    createTestDatabase(),
    startMailbox(),
    startPaypalServer({ clock, publicUrl }),
    startModelServer(),
    options.sms === 'on' ? startSmsServer(clock) : null,
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
    ...sms?.settings,
    ...options.settings,
  });
  const log = options.logTo ? createLog('debug', options.logTo) : createLog('error');
  const serving = await serve({
    config,
    database,
    clock,
    log,
    ...(options.pages !== 'on' && { builtClient: join(dataDir, 'no-pages') }),
    ...(options.passwords !== 'real' && { passwords: fastPasswords }),
  });
  if (options.jobs === 'on') serving.startJobs();
  return {
    url: `http://localhost:${serving.port}`,
    config,
    database,
    databaseUrl,
    admin,
    mailbox,
    paypal,
    model,
    sms,
    clock,
    async close() {
      await serving.stop();
      await Promise.all([mailbox.close(), paypal.close(), model.close(), sms?.close()]);
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function createTestClock(): TestClock {
  let aheadMs = 0;
  return { now: () => new Date(Date.now() + aheadMs), advance: (ms) => void (aheadMs += ms) };
}
