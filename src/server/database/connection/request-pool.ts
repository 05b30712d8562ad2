/**
 * The pool of connections for requests, which drops connections that can no longer write: those to a server that has
 * become a standby, and those whose machine has vanished without closing them.
 */
import pg from 'pg';
import type { Logger } from '#server/log.ts';
import { READ_ONLY } from '../database-error.ts';
import { ForeignAnswerError } from '../rls-query.ts';
import { valueTypes } from '../tables.ts';
import {
  UnreachableError,
  limitTcpConnect,
  isReadOnly,
  NoPrimaryError,
  type PrimaryFinder,
  type Address,
} from './primary-finder.ts';
import { connect } from 'node:net';
import { callbackify } from 'node:util';

/** Connections for requests of one process. */
export const POOL_SIZE = 16;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Longer than the driver's default of ten seconds: closing a connection discards its prepared statements. Shorter than
 * the period of most jobs (a minute), so that the connections of their bursts, 8 to 12 MB each, do not stay.
 */
const IDLE_TIMEOUT_MS = 20_000;
/**
 * After this time without traffic the system sends a probe each second. It gives the connection up after ten probes
 * without an answer. Node sets the interval and the number of the probes.
 */
const KEEP_ALIVE_DELAY_MS = 5_000;
/**
 * How long `end` waits for statements that run. A database that hangs answers none, and would hold the process for
 * ever.
 */
const CLOSE_LIMIT_MS = 5_000;

/** While a database only reads, connections are renewed no more often than this. */
const RENEW_INTERVAL_MS = 1_000;

/** The trigger `follow_entry` reports changes to connections of this name (changes/change-announcer.ts). */
export const REQUESTS_NAME = 'hustle-forge';

/**
 * SQLSTATEs of a session that has ended or is about to: connection exceptions, and for example a shutdown of the
 * server.
 */
const SESSION_END = /^(?:08|57P0)/;

export type RequestPool = {
  readonly pool: pg.Pool;
  /**
   * Renews all connections if `error` shows that the database only reads.
   *
   * @returns whether the connection of the failed statement cannot serve another one
   */
  handleError(error: unknown): boolean;
  /** Returns a connection after its use. It is closed if it is broken or was to be renewed. */
  release(client: pg.PoolClient, isBroken: boolean): void;
  end(): Promise<void>;
};

type Deps = {
  finder: PrimaryFinder;
  /** User, password, database and TLS. */
  login: pg.ClientConfig;
  log: Logger;
  /** Tests shorten the time until silent connections are noticed. */
  tickMs?: number;
  closeLimitMs?: number;
};

export function createRequestPool({ finder, login, log, tickMs, closeLimitMs = CLOSE_LIMIT_MS }: Deps): RequestPool {
  const pool = new pg.Pool({
    ...login,
    Client: primaryClient(finder),
    max: POOL_SIZE,
    // Keeps one connection. The pool reuses the last returned one, so a person who writes alone finds the statements
    // prepared.
    min: 1,
    // For the statements that `share-connections.ts` sends while another one runs.
    pipeline: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    application_name: REQUESTS_NAME,
    types: valueTypes(),
  });
  // An idle connection broke: the pool has already removed it and opens another on demand.
  // Log only the message, because the error object holds the whole connection.
  pool.on('error', ({ message }) => {
    if (!pool.ending) log.warn({ reason: message }, 'a database connection broke');
  });

  const clients = new Set<pg.PoolClient>();
  const busy = new Set<pg.PoolClient>();
  const expired = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_error, client) => busy.delete(client));

  let renewedAt = -Infinity;
  /** Closes all connections, those in use after their request. */
  function renewConnections(): void {
    if (performance.now() - renewedAt < RENEW_INTERVAL_MS) return;
    renewedAt = performance.now();
    log.warn('the database only reads: connecting again');
    for (const client of clients) {
      expired.add(client);
      finder.forget(client);
      if (!busy.has(client)) client.connection.stream.destroy(new Error('the database only reads'));
    }
  }

  const stopWatching = watchForSilence({
    busy,
    ...(tickMs !== undefined && { tickMs }),
    onDead(client) {
      log.warn('a database connection is silent for longer than any statement may take: closing it');
      client.connection.stream.destroy(new UnreachableError('the database does not answer'));
    },
    isReplaced: (server) => finder.isReplaced(server),
    onUnreachable(host, port) {
      log.warn({ host, port }, 'the database server does not answer: closing its connections');
      finder.forget({ host, port });
      for (const client of clients) {
        if (client.host === host && client.port === port)
          client.connection.stream.destroy(new UnreachableError('the database server does not answer'));
      }
    },
  });

  return {
    pool,
    handleError(error) {
      const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
      if (code === READ_ONLY) renewConnections();
      return SESSION_END.test(code) || error instanceof ForeignAnswerError;
    },
    release(client, isBroken) {
      client.release(isBroken || expired.has(client));
    },
    async end() {
      const timer = setTimeout(() => {
        log.warn('the database does not answer: closing its connections');
        for (const client of busy)
          client.connection.stream.destroy(new UnreachableError('the database does not answer'));
      }, closeLimitMs);
      await pool.end();
      clearTimeout(timer);
      stopWatching();
    },
  };
}

// Notices connections whose other end has vanished without closing them: a machine that lost its power or its network,
// or whose PostgreSQL hangs after another server has become the primary. Node cannot set TCP_USER_TIMEOUT, and without
// it the system takes a quarter of an hour to give up on sent data.

const TICK_MS = 1_000;
/** Silent for two to three seconds: check whether the server's machine answers. */
const CHECK_AFTER_TICKS = 2;
const CHECK_TIMEOUT_MS = 2_000;
/**
 * Longer than the default time-outs of the role (roles.ts), by which a living server ends a statement or transaction.
 * An operator who raises them above this cuts long statements (docs/operations/scaling.md).
 */
const DEAD_AFTER_TICKS = 20;

type SilenceDeps = {
  /** The connections that are in use. */
  busy: ReadonlySet<pg.Client>;
  /** The server, or a proxy or firewall before it, has forgotten the connection. */
  onDead(client: pg.Client): void;
  /** Whether another server has taken the place of this one, which answers no login. */
  isReplaced(server: Address): Promise<boolean>;
  /** The machine of the server does not accept connections, or another server has taken its place. */
  onUnreachable(host: string, port: number): void;
  tickMs?: number;
};

/** Returns a function that stops the watch. */
function watchForSilence({ busy, onDead, isReplaced, onUnreachable, tickMs = TICK_MS }: SilenceDeps): () => void {
  const traffic = new WeakMap<pg.Client, { bytes: number; silentTicks: number }>();
  const checking = new Set<string>();

  function checkReachability({ host, port }: pg.Client): void {
    const key = `${host}:${port}`;
    if (checking.has(key)) return;
    checking.add(key);
    void isLost(host, port).then((lost) => {
      checking.delete(key);
      if (lost) onUnreachable(host, port);
    });
  }

  const isLost = async (host: string, port: number): Promise<boolean> =>
    !(await isReachable(host, port)) || isReplaced({ host, port });

  const timer = setInterval(() => {
    for (const client of busy) {
      const { bytesRead, bytesWritten } = client.connection.stream as unknown as Traffic;
      const bytes = bytesRead + bytesWritten;
      const known = traffic.get(client);
      const silentTicks = known?.bytes === bytes ? known.silentTicks + 1 : 0;
      traffic.set(client, { bytes, silentTicks });
      if (silentTicks >= DEAD_AFTER_TICKS) onDead(client);
      else if (silentTicks >= CHECK_AFTER_TICKS) checkReachability(client);
    }
  }, tickMs).unref();
  return () => clearInterval(timer);
}

type Traffic = { bytesRead: number; bytesWritten: number };

/** Opens only a TCP connection: the operating system accepts it even while PostgreSQL is too busy to answer. */
function isReachable(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    const finish = (reachable: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reachable);
    };
    // After a pause of this process, the timer runs before the event of a connection that was established meanwhile.
    // `setImmediate` lets that event run first.
    const timer = setTimeout(() => setImmediate(() => finish(false)), CHECK_TIMEOUT_MS);
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

const LOGIN_CHECK_MS = 1_000;

type Callback = ((error: Error) => void) & ((error: null, client: pg.Client) => void);

/**
 * The pool's class of connections, each to the server that accepts writes when it connects. The options give everything
 * but the host and the port.
 */
export function primaryClient(finder: PrimaryFinder): typeof pg.Client {
  return class extends pg.Client {
    constructor(options?: string | pg.ClientConfig) {
      super(options);
      // A connection that breaks rejects the query in flight and also emits `error`, which would end the process
      // without a listener.
      this.on('error', () => undefined);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<pg.Client> | undefined {
      if (!callback) return this.#connectToPrimary();
      callbackify(() => this.#connectToPrimary())(callback);
      return undefined;
    }

    async #connectToPrimary(): Promise<pg.Client> {
      const server = await finder.find();
      // The driver reads `host` and `port` when it connects.
      this.host = server.host;
      this.port = server.port;
      limitTcpConnect(this);
      const stopWatching = this.#watchLogin(server);
      try {
        await super.connect();
        if (finder.isStrict && (await isReadOnly(this))) throw new NoPrimaryError('the database server only reads');
        return this;
      } catch (error) {
        finder.forget(server);
        void this.end().catch(() => undefined);
        throw error;
      } finally {
        stopWatching();
      }
    }

    /** Gives up a login to a server that another one has replaced, long before its time-out. */
    #watchLogin(server: Address): () => void {
      let isDone = false;
      const timer = setInterval(() => {
        void finder.isReplaced(server).then((isReplaced) => {
          if (!isReplaced || isDone) return;
          this.connection.stream.destroy(new UnreachableError('another database server has taken over'));
        });
      }, LOGIN_CHECK_MS);
      return () => {
        isDone = true;
        clearInterval(timer);
      };
    }
  };
}
