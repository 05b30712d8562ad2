/** Opens the database: starts the embedded server or uses DATABASE_URL, migrates, and opens the pool for requests. */
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import { inspectPooler, type SendingMode } from './connection/inspect-pooler.ts';
import { primaryClient, createRequestPool, REQUESTS_NAME, type RequestPool } from './connection/request-pool.ts';
import { createOwnerFinder, createPrimaryFinder, type PrimaryFinder } from './connection/primary-finder.ts';
import { StatementProtocol } from './connection/statement-protocol.ts';
import { sqlStateOf } from './database-error.ts';
import type { Database } from './database.ts';
import { openEmbeddedServer, type EmbeddedOptions } from './embedded/server.ts';
import { isMigrated } from './migrations/ledger.ts';
import { finishMigrations, migrate, serverName } from './migrations/migrate.ts';
import { createPooledDatabase } from './pooled-database.ts';
import { rejectPrivilegedLogin, requestConnection } from './roles.ts';

export type DatabaseOptions = {
  config: {
    dataDir: string;
    /** The URL's user owns the tables and migrates them. Null: the embedded server under `dataDir`. */
    databaseUrl: { reveal(): string } | null;
    /** Requests go through the pooler of this address. */
    databasePoolUrl?: { reveal(): string } | null;
  };
  log: Logger;
  /** If another process serves `dataDir`: `join` it (operator commands, worker processes) or refuse. */
  whenRunning?: EmbeddedOptions['whenRunning'];
  /** Migrations of another version of the program, for tests. */
  migrationsFolder?: URL;
  /** The time limit of a quick read. Only tests set it. */
  quickReadLimitMs?: number | undefined;
};

const CONNECT_TIMEOUT_MS = 10_000;
const LISTENER_TIMEOUT_MS = 5_000;
/** Without a pooler, each connection has a session of its own, so named statements and pipelining are safe. */
const SENDING_WITHOUT_POOLER: SendingMode = { names: 'named', canPipeline: true };

/** @throws Error with a message for the operator about the server, its roles, its version or its migrations. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { config, log, whenRunning = 'refuse', migrationsFolder } = options;
  const server = config.databaseUrl
    ? { url: config.databaseUrl.reveal(), close: () => Promise.resolve() }
    : await openEmbeddedServer({ dataDir: config.dataDir, log, whenRunning });
  const primary = createOwnerFinder(server.url);
  let requests: RequestPool | null = null;
  try {
    const { url: ownerUrl } = await primary.findAtStart();
    const login = requestConnection(ownerUrl);
    const connect = connectorTo(primary);
    const migrations = await migrate(ownerUrl, log, { folder: migrationsFolder });
    // An operator command needs no pooler, and must work while the pooler does not.
    const poolUrl = whenRunning === 'join' ? undefined : config.databasePoolUrl?.reveal();
    const pooler = poolUrl === undefined ? null : await openPooler(poolUrl, login, connect, log);
    const { finder, sending } = pooler ?? { finder: primary, sending: SENDING_WITHOUT_POOLER };
    requests = createRequestPool({ finder, login: { ...login, ...pooler?.login }, log });
    await rejectPrivilegedLogin(requests.pool);
    // An operator command prints nothing but its result, and the embedded server sets these settings itself.
    if (whenRunning !== 'join') await warnUnlessDurable(requests.pool, log);
    return createPooledDatabase({
      requests,
      protocol: new StatementProtocol({ ...sending, isPooled: pooler !== null, log }),
      log,
      quickReadLimitMs: options.quickReadLimitMs,
      isCurrent: (service) => isMigrated(service, migrations),
      finishMigrations: (deps) => finishMigrations({ ...deps, migrations, log }),
      connectOwner: () => connect({ connectionString: ownerUrl }),
      connectListener: () =>
        connect({
          ...login,
          keepAlive: true,
          query_timeout: LISTENER_TIMEOUT_MS,
          application_name: serverName(migrations),
        }),
      onClosed: () => server.close(),
    });
  } catch (error) {
    await requests?.end();
    await server.close();
    throw config.databaseUrl ? nameSetting(error) : error;
  }
}

/** SQLSTATE classes of a refused login and of a database that does not exist. */
const REFUSED_LOGIN = /^(?:28|3D)/;

/** Names the setting in an error of the system or of a login. Other errors name what is wrong themselves. */
function nameSetting(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!('syscall' in error) && !REFUSED_LOGIN.test(sqlStateOf(error) ?? '')) return error;
  return new Error(`DATABASE_URL cannot be used: ${error.message}. "npm run doctor" says how to fix it`, {
    cause: error,
  });
}

type Connect = (options: pg.ClientConfig) => Promise<pg.Client>;

/** Replaces the host and port of the options by those of the server that accepts writes. */
function connectorTo(finder: PrimaryFinder): Connect {
  const Client = primaryClient(finder);
  return (options) => new Client({ ...options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }).connect();
}

/** Checks a pooler as a start of the server does. @throws Error with a message for the operator */
export async function checkPooler({ ownerUrl, poolUrl, log }: PoolerOptions): Promise<SendingMode> {
  const primary = createOwnerFinder(ownerUrl);
  return (await openPooler(poolUrl, requestConnection(ownerUrl), connectorTo(primary), log)).sending;
}

type PoolerOptions = { ownerUrl: string; poolUrl: string; log: Logger };
type Pooler = { finder: PrimaryFinder; sending: SendingMode; login: pg.ClientConfig };

async function openPooler(url: string, login: pg.ClientConfig, connectDirectly: Connect, log: Logger): Promise<Pooler> {
  const address = ({ url: hostUrl }: { url: string }): pg.ClientConfig => {
    const { host, port, database, ssl } = new pg.Client({ connectionString: hostUrl });
    return { ...login, host, port, ssl, ...(database !== undefined && { database }) };
  };
  const finder = createPrimaryFinder({ setting: 'DATABASE_POOL_URL', url, login: address });
  const pooled = address(await finder.findAtStart());
  const connect = connectorTo(finder);
  const sending = await inspectPooler({
    connect: () => connect({ ...pooled, application_name: REQUESTS_NAME, pipeline: true }),
    connectDirectly: () => connectDirectly(login),
    log,
  });
  return { finder, sending, login: pooled };
}

// An answer 2xx to a save means that the save is committed and on disk. Only the settings of the database keep this
// promise (docs/operations.md, "The database").

/** The settings that are off, although an acknowledged save needs them. */
export async function readUnsafeSettings(connection: Pick<pg.Pool | pg.Client, 'query'>): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `select name from pg_catalog.pg_settings
      where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting = 'off' order by name`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Warns instead of refusing: some managed databases store each commit on several machines and report `fsync` as off.
 * The settings are read as the login of the requests, for which a role or database may override them.
 */
export async function warnUnlessDurable(pool: Pick<pg.Pool, 'query'>, log: Logger): Promise<void> {
  const settings = await readUnsafeSettings(pool);
  if (settings.length === 0) return;
  log.warn({ settings }, 'acknowledged saves can be lost when the database crashes: turn these settings on');
}
