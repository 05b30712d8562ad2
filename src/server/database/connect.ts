/** Opens the database: starts the embedded server or uses DATABASE_URL, migrates, and returns the request pool. */
import pg from 'pg';

import type { Logger } from '#server/log.ts';

import { StatementProtocol } from './connection/statement-protocol.ts';
import type { Database } from './database.ts';
import { openEmbeddedServer } from './embedded/server.ts';
import type { EmbeddedOptions } from './embedded/server.ts';
import { finishMigrations } from './migrations/finish-migrations.ts';
import { isMigrated } from './migrations/ledger.ts';
import { migrate } from './migrations/migrate.ts';
import { serverName } from './migrations/server-versions.ts';
import { createPooledDatabase } from './pooled-database.ts';
import { warnUnlessDurable } from './durability.ts';
import { rejectPrivilegedLogin, requestConnection } from './roles.ts';
import { valueTypes } from './tables/value-types.ts';

export type DatabaseOptions = {
  config: {
    dataDir: string;
    /** The URL's user owns the tables and migrates them. Null: the embedded server under `dataDir`. */
    databaseUrl: { reveal(): string } | null;
  };
  log: Logger;
  /** If another process serves `dataDir`: `join` it (operator commands) or refuse. */
  whenRunning?: EmbeddedOptions['whenRunning'];
  /** Migrations of another version of the program, for tests. */
  migrationsFolder?: URL;
};

const POOL_SIZE = 16;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than the driver's default of ten seconds: closing a connection discards its prepared statements. */
const IDLE_TIMEOUT_MS = 60_000;
const LISTENER_TIMEOUT_MS = 5_000;

/** @throws Error with a message for the operator about the server, its roles, its version or its migrations. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { config, log, whenRunning = 'refuse', migrationsFolder } = options;
  const server = config.databaseUrl
    ? { url: config.databaseUrl.reveal(), close: () => Promise.resolve() }
    : await openEmbeddedServer({ dataDir: config.dataDir, log, whenRunning });
  const pool = requestPool(server.url, log);
  try {
    const migrations = await migrate(server.url, log, { folder: migrationsFolder });
    await rejectPrivilegedLogin(pool);
    // The server warns. An operator command prints its result alone.
    if (whenRunning !== 'join') await warnUnlessDurable(pool, log);
    return createPooledDatabase({
      pool,
      protocol: new StatementProtocol({ names: 'named', isPooled: false, log }),
      log,
      isCurrent: (service) => isMigrated(service, migrations),
      finishMigrations: (deps) => finishMigrations({ ...deps, migrations, log }),
      connectOwner: () => connect({ connectionString: server.url }),
      connectListener: () =>
        connect({
          ...requestConnection(server.url),
          keepAlive: true,
          query_timeout: LISTENER_TIMEOUT_MS,
          application_name: serverName(migrations),
        }),
      onClosed: () => server.close(),
    });
  } catch (error) {
    await pool.end();
    await server.close();
    throw error;
  }
}

async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A broken connection already rejects the query in flight; without a listener, its `error` event would end the
  // process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function requestPool(ownerUrl: string, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    ...requestConnection(ownerUrl),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    // The trigger `report_entry` reports changes to connections of this name (changes/change-announcer.ts).
    application_name: 'hustle-forge',
    types: valueTypes(),
  });
  // A connection that breaks rejects the query in flight and also emits `error`. The pool listens only while the
  // connection is idle, and an `error` event without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  // An idle connection broke: the pool has already removed it and opens another on demand.
  // Log only the message, because the error object holds the whole connection.
  pool.on('error', ({ message }) => {
    if (!pool.ending) log.warn({ reason: message }, 'a database connection broke');
  });
  return pool;
}
