/**
 * Wires the server from its settings and a database, and starts listening. `main.ts` and the tests share it, so tests
 * run the production wiring.
 */
import { join } from 'node:path';
import { createApp } from './app.ts';
import { createAccessTokens } from './auth/keys/access-tokens.ts';
import { loadSigningKeys } from './auth/keys/signing-keys.ts';
import { createPasswords, PASSWORD_LIMITS } from './auth/password/passwords.ts';
import type { Passwords } from './auth/http/auth-deps.ts';
import { loadSamlKey } from './auth/keys/key-file.ts';
import { listBackups } from './backup/folder.ts';
import { finishRestore } from './backup/finish-restore.ts';
import { systemClock, type Clock } from './clock.ts';
import { createCoach } from './coach/coach.ts';
import { resetConsentOnProviderChange } from './coach/coach-store.ts';
import type { Config } from './config/config.ts';
import { createWriteQuota } from './data/write-quota.ts';
import type { Database } from './database/database.ts';
import { createAdmission } from './http/admission.ts';
import type { ReminderWriter } from './habit/send-reminders.ts';
import { replyAddress, type Inbound } from './inbound/inbound.ts';
import type { InboundDeps } from './inbound/receive-reply.ts';
import { listenForMail } from './inbound/smtp-listener.ts';
import { listen } from './http/listen.ts';
import { createMetrics, createRegistry } from './http/metrics.ts';
import { securityHeaders } from './http/security-headers.ts';
import { listJobs } from './jobs/job-list.ts';
import { createJobs, type Jobs } from './jobs/jobs.ts';
import { createChangeStreams } from './functions/change-streams.ts';
import { createBackgroundTasks } from './load/background-tasks.ts';
import { createLimiters } from './load/limiters.ts';
import type { Logger } from './log.ts';
import { createMailer } from './mail/mailer.ts';
import { registerDatabaseFigures } from './metrics/database-figures.ts';
import { observeDatabase } from './metrics/events.ts';
import { registerBackupAge, registerLoad, registerProcessMetrics, registerServiceState } from './metrics/process.ts';
import { createProviderNames, registerProviderRequests } from './metrics/provider-requests.ts';
import { mergeMetrics, type WorkerMetrics } from './metrics/prom-client.ts';
import { createPush } from './push/push.ts';
import { createPayments } from './payments/payments.ts';
import { clientConfig, loadSite } from './http/pages.ts';
import { createSmsSender } from './sms-sender.ts';

const BUILT_CLIENT = join(import.meta.dirname, '..', '..', 'dist');

type ServeDeps = {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  /**
   * Hashes passwords. By default the server does so in a thread of its own. The caller closes an instance that it
   * passes.
   */
  passwords?: Passwords;
  /** The folder of the built pages; by default this program's. */
  builtClient?: string;
  /** Asks all processes behind the port for their metrics. Without it, this process is the only one. */
  scrape?: () => Promise<WorkerMetrics[]>;
};

type RunningServer = {
  readonly port: number;
  startJobs(): void;
  /** The metrics of this process, for the process that answers a scrape for all. */
  describeMetrics(): Promise<WorkerMetrics['metrics']>;
  /**
   * Finishes open work while other processes accept new connections: each connection closes after its next response or
   * 5 s of idling, and streams are told to reconnect. Resolves when no connection is left, or after 75 s. The caller
   * then calls `stop`, which may also be called before that.
   */
  drain(): Promise<void>;
  /** Graceful shutdown; the caller closes the database. */
  stop(): Promise<void>;
};

export async function serve({ config, clock, log, ...options }: ServeDeps): Promise<RunningServer> {
  const { builtClient = BUILT_CLIENT, scrape } = options;
  const registry = createRegistry();
  const metrics = createMetrics(registry);
  const { events } = metrics;
  const providerOf = createProviderNames(config);
  const tracing = config.tracing && (await import('./tracing.ts')).startTracing(config.tracing, providerOf, log);
  const observed = observeDatabase(options.database, events.databaseError);
  const database = tracing ? tracing.traceDatabase(observed) : observed;
  const { auth, dataDir, host, mail, port, publicUrl } = config;
  await finishRestore({ config, database, log });
  const signingKeys = await loadSigningKeys({ signingKeyFile: auth.signingKeyFile, dataDir, database, clock, log });
  const site = await loadSite(builtClient, config);
  const mailer = createMailer(mail, log, { events, traceMail: tracing ? tracing.traceMail : undefined });
  const background = createBackgroundTasks(log);
  const limiters = createLimiters();
  limiters.add('database', database.connections);
  limiters.add('slow_reads', database.slowReads);
  const passwords = options.passwords ?? createPasswords(limiters.createLimiter('passwords', PASSWORD_LIMITS));
  const requestMails = (): void => jobs.request('send-receipts');
  const payments = createPayments({ config, database, clock, log, requestMails });
  const { coachProvider } = clientConfig(config);
  if (coachProvider !== null) await resetConsentOnProviderChange(database, coachProvider, log);
  const coach = config.coach && createCoach({ settings: config.coach, database, clock, limiters, log, events });
  const unsubscribeSecret = signingKeys.deriveSecret('unsubscribe-links');
  const inboundSettings = config.inbound;
  const reminders: ReminderWriter = {
    config,
    clock,
    unsubscribeSecret,
    replyAddress: inboundSettings && ((token) => replyAddress(inboundSettings.domain, token)),
  };
  const writeQuota = createWriteQuota({ clock, config, database, limiters });
  const inbound =
    inboundSettings &&
    (await openInbound({
      config: { ...config, inbound: inboundSettings },
      ...{ database, clock, limiters, log, mailer, events, writeQuota },
    }));
  const push =
    config.push &&
    createPush({
      settings: config.push,
      ...{ config, database, clock, log },
      secret: signingKeys.deriveSecret('push'),
    });
  const scheduled = listJobs({
    config,
    database,
    clock,
    log,
    mailer,
    payments,
    knownDevicesKey: signingKeys.deriveSecret('known-devices'),
    reminders,
    push,
    coach,
  });
  const jobs: Jobs = createJobs({ database, log, events, jobs: tracing ? tracing.traceJobs(scheduled) : scheduled });
  const changeStreams = createChangeStreams({ database, clock, limiters, log, events });
  const app = createApp({
    config,
    database,
    clock,
    log,
    mailer,
    sms: auth.sms && createSmsSender(auth.sms, log, events),
    background,
    passwords,
    payments,
    coach,
    reminders,
    writeQuota,
    inbound,
    push,
    changeStreams,
    signingKeys,
    samlKey: auth.samlKeyFile === null ? null : await loadSamlKey(auth.samlKeyFile),
    site,
    accessTokens: createAccessTokens({ keys: signingKeys, issuer: `${publicUrl}/auth/v1`, clock, database }),
    limiters,
    metrics: scrape ? { ...metrics, text: async () => mergeMetrics(await scrape()) } : metrics,
    traceRequests: tracing && tracing.request,
  });
  const { clientAddressHeader } = auth;
  const admit = createAdmission({ limiters, connections: database.connections, clientAddressHeader, log });
  const listening = await listen({
    host,
    port,
    headers: securityHeaders(config),
    fetch: admit(app.fetch),
    limiters,
    isBehindProxy: clientAddressHeader !== null,
  });
  const smtp =
    inbound && inboundSettings?.smtp
      ? await listenForMail({ settings: inboundSettings.smtp, domain: inboundSettings.domain, inbound, log })
      : null;
  registerServiceState(registry, {
    pool: () => database.poolState(),
    openStreams: () => changeStreams.size(),
    queues: () => ({ mail: mailer.queued(), background: background.size() }),
  });
  registerLoad(registry, limiters);
  registerDatabaseFigures(registry, options.database);
  registerBackupAge(registry, () => listBackups(config.backup.dir));
  const stopSampling = [registerProcessMetrics(registry, dataDir), registerProviderRequests(registry, providerOf)];
  changeStreams.start();
  return {
    port: listening.port,
    startJobs: () => jobs.start(),
    describeMetrics: () => registry.getMetricsAsJSON(),
    async drain() {
      await Promise.all([changeStreams.stop(), listening.drain(), smtp?.close()]);
    },
    async stop() {
      for (const stop of stopSampling) stop();
      coach?.beginShutdown();
      await Promise.all([changeStreams.stop(), listening.stop(), smtp?.close(), jobs.stop()]);
      await coach?.whenIdle();
      await Promise.all([mailer.close(), background.close(), options.passwords ? null : passwords.close()]);
      await tracing?.stop();
    },
  };
}

/** `stop` also closes the database. */
export type StartedServer = Omit<RunningServer, 'port'>;

/** Starts the only serving process, or one of several workers. Resolves once the server accepts requests. */
export async function startServer(
  deps: Pick<ServeDeps, 'config' | 'database' | 'log' | 'scrape'>,
): Promise<StartedServer> {
  const { database } = deps;
  const serving = await serve({ ...deps, clock: systemClock }).catch(async (error: unknown) => {
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

async function openInbound(deps: Omit<InboundDeps, 'authenticate'>): Promise<Inbound> {
  const [{ createInbound }, { createAuthenticator }] = await Promise.all([
    import('./inbound/receive-reply.ts'),
    import('./inbound/authenticate-mail.ts'),
  ]);
  const { dnsServers, domain } = deps.config.inbound;
  return createInbound({ ...deps, authenticate: createAuthenticator(dnsServers, domain) });
}
