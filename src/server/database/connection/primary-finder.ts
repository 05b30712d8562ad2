/**
 * Finds the server that accepts writes among those of a connection string, at the start and again after a failover. A
 * single server is used without a check unless `target_session_attrs` asks for one: it may be a proxy, or a primary
 * that only reads because its disk is full and still answers reads.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { singleFlight } from '#server/load/single-flight.ts';
import { sessionAttributes, splitHosts } from '../../config/config.ts';

/** No server accepts writes now. Transient: requests are answered 503. */
export class NoPrimaryError extends Error {}

/** After this time, a server that accepts the connection but does not tell its state counts as dead. */
const CHECK_TIMEOUT_MS = 3_000;
/**
 * A server that answers no login for this time counts as replaced if another one accepts writes. Shorter than the pause
 * between two checks of a silent connection, so that each of these gets a result.
 */
const REPLACED_AFTER_MS = 500;
/**
 * The pause after a failed check of a server, and after a failed search. Without it, every request during an outage
 * would start a search.
 */
const SEARCH_PAUSE_MS = 250;
/** How long a server that starts during a failover waits for its end. */
const START_PATIENCE_MS = 10_000;

export type Address = { readonly host: string; readonly port: number };
/** One server of a connection string, with a URL that names this server alone. It carries the password. */
export type DatabaseServer = Address & { readonly url: string };

export type PrimaryFinder = {
  /** True if each new connection must reach a server that accepts writes. */
  readonly isStrict: boolean;
  /**
   * The server to connect to: the last good one, or the first that accepts writes in a search of all.
   * @throws NoPrimaryError
   */
  find(): Promise<DatabaseServer>;
  /** As `find`, but repeats a failed search for `START_PATIENCE_MS`: a server may start during a failover. */
  findAtStart(): Promise<DatabaseServer>;
  /**
   * Call when a connection to the server failed or turned out to be read-only: the next `find` searches again. No-op
   * unless `isStrict`.
   */
  forget(server: Address): void;
  /**
   * Whether another server accepts writes and this one answers no login: its PostgreSQL or its disk hangs, although its
   * machine accepts connections. False if there is no other server. Concurrent calls share one check.
   */
  isReplaced(server: Address): Promise<boolean>;
};

type Deps = {
  /** The setting that has the connection string, for messages. */
  setting: string;
  url: string;
  /** The connection for a check of one server. */
  login: (server: DatabaseServer) => pg.ClientConfig;
};

export function createPrimaryFinder({ setting, url, login }: Deps): PrimaryFinder {
  const servers = splitHosts(url).map((hostUrl) => ({ url: hostUrl, ...addressOf(hostUrl) }));
  const isStrict = servers.length > 1 || ['read-write', 'primary'].includes(sessionAttributes(url) ?? '');
  let current: DatabaseServer | null = isStrict ? null : servers[0]!;
  let searching: Promise<DatabaseServer> | null = null;

  /**
   * Asks all servers at the same time: one that is cut off from the network must not delay the others. Asks a server
   * that refuses writes again until every server has answered, because it may be promoted meanwhile.
   */
  async function search(): Promise<DatabaseServer> {
    const reasons: string[] = [];
    let unanswered = servers.length;
    const checks = servers.map(async (server) => {
      let reason = await whyNotWritable(login(server));
      unanswered -= 1;
      while (reason !== null && unanswered > 0) {
        await delay(SEARCH_PAUSE_MS);
        if (unanswered > 0) reason = await whyNotWritable(login(server));
      }
      if (reason === null) return server;
      reasons.push(`${server.host}:${server.port}: ${reason}`);
      throw new NoPrimaryError(reason);
    });
    try {
      current = await Promise.any(checks);
      return current;
    } catch {
      throw new NoPrimaryError(`no server of ${setting} accepts writes (${reasons.toSorted().join('; ')})`);
    }
  }

  const answerInTime = (server: DatabaseServer): Promise<'accepts writes' | 'refuses' | 'none'> =>
    Promise.race([
      whyNotWritable(login(server)).then((reason) => (reason === null ? 'accepts writes' : 'refuses')),
      delay(REPLACED_AFTER_MS, 'none' as const, { ref: false }),
    ]);

  const checkReplaced = singleFlight(async (serverUrl: string): Promise<boolean> => {
    const server = servers.find((each) => each.url === serverUrl)!;
    if ((await answerInTime(server)) !== 'none') return false;
    const others = servers.filter((each) => each.url !== serverUrl);
    const answers = await Promise.all(others.map((other) => answerInTime(other)));
    return answers.includes('accepts writes');
  });

  function isReplaced({ host, port }: Address): Promise<boolean> {
    const server = servers.find((each) => each.host === host && each.port === port);
    return server === undefined || servers.length === 1 ? Promise.resolve(false) : checkReplaced(server.url);
  }

  function find(): Promise<DatabaseServer> {
    if (current !== null) return Promise.resolve(current);
    if (searching === null) {
      const end = (): void => void (searching = null);
      searching = search();
      searching.then(end, () => setTimeout(end, SEARCH_PAUSE_MS).unref());
    }
    return searching;
  }

  return {
    isStrict,
    find,
    isReplaced,
    async findAtStart() {
      for (const since = performance.now(); ; await delay(SEARCH_PAUSE_MS)) {
        try {
          return await find();
        } catch (error) {
          if (performance.now() - since > START_PATIENCE_MS) throw error;
        }
      }
    },
    forget({ host, port }) {
      if (isStrict && current?.host === host && current.port === port) current = null;
    },
  };
}

/** Finds the server of DATABASE_URL with the login of the owner. */
export const createOwnerFinder = (databaseUrl: string): PrimaryFinder =>
  createPrimaryFinder({ setting: 'DATABASE_URL', url: databaseUrl, login: ({ url }) => ({ connectionString: url }) });

/** Null if the server accepts writes, otherwise the reason. */
async function whyNotWritable(config: pg.ClientConfig): Promise<string | null> {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: CHECK_TIMEOUT_MS,
    query_timeout: CHECK_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  limitTcpConnect(client);
  try {
    await client.connect();
    return (await isReadOnly(client)) ? 'only reads' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    // Not awaited: `end` waits for the server, which may be out of reach.
    void client.end().catch(() => undefined);
  }
}

/** True on a standby, and on a primary with `default_transaction_read_only`. */
export async function isReadOnly(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  return rows[0]!.transaction_read_only !== 'off';
}

function addressOf(url: string): Address {
  const { host, port } = new pg.Client({ connectionString: url });
  return { host, port };
}

// Bounds the time until a server's machine accepts a TCP connection. The login has a longer limit of its own, because a
// busy server takes longer for it.

/** Time for one lost packet, which TCP sends again after a second. */
const TCP_TIMEOUT_MS = 2_000;

/** Call before `connect`, which then rejects if the machine does not accept the TCP connection in time. */
export function limitTcpConnect(client: pg.Client): void {
  const { connection } = client;
  let isDone = false;
  const timer = setTimeout(() => {
    // After a pause of this process, the timer runs before the event of a connection that was established meanwhile.
    // `setImmediate` lets that event run first.
    setImmediate(() => {
      if (!isDone) connection.stream.destroy(new UnreachableError('the database server does not answer'));
    });
  }, TCP_TIMEOUT_MS);
  const done = (): void => {
    isDone = true;
    clearTimeout(timer);
  };
  connection.once('connect', done);
  connection.once('end', done);
}

/** Has the code of the operating system's own error, which comes only after minutes. */
export class UnreachableError extends Error {
  readonly code = 'ETIMEDOUT';
}
