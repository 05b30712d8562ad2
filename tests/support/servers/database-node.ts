/**
 * A server of a cluster, as seen from the program: an address in front of the test's PostgreSQL that is a primary or a
 * standby, and can die, vanish without a sign and change its role. It rewrites only the first message of a connection.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import pg from 'pg';

const READ_ONLY = ['options', '-c default_transaction_read_only=on', '', ''].join('\u0000');

export type DatabaseNode = {
  readonly host: string;
  readonly port: number;
  /** Makes new connections read-only, as on a standby. */
  isStandby: boolean;
  /** Accepts new connections without an answer, like a machine whose disk hangs. */
  isSilent: boolean;
  /** The number of connections so far. */
  readonly opened: number;
  start(): Promise<void>;
  /** Closes all connections and accepts no other until `start`. */
  die(): void;
  /** Like a machine without power: connections stay open and get no answer. New connections fail. */
  vanish(): void;
};

export async function startDatabaseNode(serverUrl: string, isStandby = false): Promise<DatabaseNode> {
  const { host, port: upstreamPort } = new pg.Client({ connectionString: serverUrl });
  const isSocket = host.startsWith('/');
  const pairs = new Set<[Socket, Socket]>();
  let server: Server | null = null;
  let port = 0;
  let opened = 0;

  function accept(socket: Socket): void {
    opened += 1;
    if (node.isSilent) return void socket.on('error', () => undefined).resume();
    const upstream = connect(isSocket ? { path: `${host}/.s.PGSQL.${upstreamPort}` } : { host, port: upstreamPort });
    const pair: [Socket, Socket] = [socket, upstream];
    pairs.add(pair);
    for (const end of pair) end.on('error', () => undefined);
    socket.on('close', () => {
      upstream.destroy();
      pairs.delete(pair);
    });
    socket.once('data', (startup: Buffer) => {
      upstream.write(node.isStandby ? withReadOnlyOption(startup) : startup);
      socket.pipe(upstream).pipe(socket);
    });
  }

  function stopListening(): void {
    server?.close();
    server = null;
  }

  const node: DatabaseNode = {
    host: '127.0.0.1',
    get port() {
      return port;
    },
    get opened() {
      return opened;
    },
    isStandby,
    isSilent: false,
    async start() {
      const own = createServer({ noDelay: true }, accept);
      server = own;
      await new Promise<void>((resolve) => void own.listen(port, '127.0.0.1', resolve));
      ({ port } = own.address() as AddressInfo);
    },
    die() {
      stopListening();
      for (const [socket] of pairs) socket.resetAndDestroy();
    },
    vanish() {
      stopListening();
      for (const [socket, upstream] of pairs) {
        socket.unpipe();
        upstream.unpipe();
        upstream.destroy();
        socket.resume();
      }
    },
  };
  await node.start();
  return node;
}

function withReadOnlyOption(startup: Buffer): Buffer {
  const changed = Buffer.concat([startup.subarray(0, -1), Buffer.from(READ_ONLY)]);
  changed.writeUInt32BE(changed.length);
  return changed;
}
