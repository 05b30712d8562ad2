/**
 * Notices connections whose other end has vanished without closing them: a machine that lost its power or its network, or
 * whose PostgreSQL hangs after another server has become the primary. Node cannot set TCP_USER_TIMEOUT, and without it the
 * system takes a quarter of an hour to give up on sent data.
 */
import { connect } from 'node:net';

import type pg from 'pg';

import type { Address } from './primary-finder.ts';

const TICK_MS = 1_000;
/** Silent for one to two seconds: check whether the server's machine answers. */
const CHECK_AFTER_TICKS = 2;
const CHECK_TIMEOUT_MS = 2_000;
/**
 * Longer than the default time-outs of the role (roles.ts), by which a living server ends a statement or transaction. An
 * operator who raises them above this cuts long statements (docs/operations/scaling.md).
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
export function watchForSilence({ busy, onDead, isReplaced, onUnreachable, tickMs = TICK_MS }: SilenceDeps): () => void {
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
    // After a pause of this process the timer runs before the event of a connection that was established meanwhile.
    const timer = setTimeout(() => setImmediate(() => finish(false)), CHECK_TIMEOUT_MS);
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
