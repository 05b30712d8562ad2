/**
 * A pooler of PostgreSQL sessions for tests. In transaction mode it behaves like PgBouncer before 1.21: a client gets a
 * session until its queries are answered and its transaction has ended. The session keeps the prepared statements of
 * earlier clients.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

import pg from 'pg';

import { requestConnection } from '#server/database/roles.ts';

type Session = { socket: Socket; client: Client | null; pending: Buffer };
/** `unanswered`: the number of its queries that a session has not answered yet. */
type Client = {
  socket: Socket;
  user: string;
  session: Session | null;
  pending: Buffer;
  isStarted: boolean;
  unanswered: number;
};

export type StubPooler = {
  url: string;
  /** A new value applies to transactions that begin later. */
  mode: 'session' | 'transaction' | 'statement';
  stop(): Promise<void>;
};

type Options = {
  /** The owner's connection string. */
  serverUrl: string;
  mode: StubPooler['mode'];
  sessions?: number;
  /** Replaces the `application_name` of every client. */
  applicationName?: string;
  dropsNotices?: boolean;
  /** Opens all sessions at once and gives out the one that has been idle for longest. */
  isRoundRobin?: boolean;
  /** Simulates a faulty pooler: gives a session to another client while it still has queries to answer. */
  countsNoQueries?: boolean;
};

const READY = 'Z'.charCodeAt(0);
const NOTICE = 'N'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const SIMPLE_QUERY = 'Q'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);

export async function startStubPooler(options: Options): Promise<StubPooler> {
  const { serverUrl, sessions: limit = 2, applicationName = 'hustle-forge' } = options;
  const { user: owner = '', password = '', database = '' } = new pg.Client({ connectionString: serverUrl });
  const sockets = new Set<Socket>();
  /** The idle sessions of each user, the latest last, and the number of all. */
  const pools = new Map<string, { idle: Session[]; count: number; waiting: Client[] }>();

  async function openSession(user: string): Promise<Session> {
    const config = user === owner ? { connectionString: serverUrl } : requestConnection(serverUrl);
    const upstream = new pg.Client({ ...config, application_name: applicationName });
    await upstream.connect();
    const socket = upstream.connection.stream as unknown as Socket;
    // The driver has logged in. From now on the pooler reads and writes the socket.
    socket.removeAllListeners('data');
    upstream.on('error', () => undefined);
    sockets.add(socket);
    const session: Session = { socket, client: null, pending: Buffer.alloc(0) };
    socket.on('data', (data: Buffer) => {
      session.pending = Buffer.concat([session.pending, data]);
      const [frames, rest] = splitFrames(session.pending);
      session.pending = rest;
      for (const frame of frames) answer(session, frame);
    });
    return session;
  }

  function answer(session: Session, frame: Buffer): void {
    const { client } = session;
    if (frame[0] !== NOTICE || !options.dropsNotices) client?.socket.write(frame);
    if (frame[0] !== READY || !client) return;
    client.unanswered -= 1;
    const isTransactionOver = String.fromCharCode(frame[5]!) === 'I';
    const isAnswered = client.unanswered === 0 || options.countsNoQueries;
    if (isTransactionOver && isAnswered && stub.mode !== 'session') release(client, session);
  }

  function release(client: Client, session: Session): void {
    client.session = null;
    session.client = null;
    const pool = pools.get(client.user)!;
    pool.idle.push(session);
    const next = pool.waiting.shift();
    if (next) void serve(next);
  }

  /** Sends what the client has sent, to its session or to one that is free. */
  async function serve(client: Client): Promise<void> {
    const pool = pools.get(client.user) ?? { idle: [], count: 0, waiting: [] };
    pools.set(client.user, pool);
    if (!client.session) {
      const isFull = pool.idle.length === 0 && pool.count >= (stub.mode === 'session' ? Infinity : limit);
      if (isFull) return void (pool.waiting.includes(client) || pool.waiting.push(client));
      while (options.isRoundRobin && pool.count < limit) {
        pool.count += 1;
        pool.idle.push(await openSession(client.user));
      }
      const idle = options.isRoundRobin ? pool.idle.shift() : pool.idle.pop();
      if (!idle) pool.count += 1;
      const session = idle ?? (await openSession(client.user));
      client.session = session;
      session.client = client;
    }
    const [frames, rest] = splitFrames(client.pending);
    client.pending = rest;
    for (const frame of frames) {
      if (frame[0] === TERMINATE) continue;
      if (stub.mode === 'statement' && frame.toString().endsWith('begin\0')) {
        client.socket.end(fatal('transaction blocks not allowed in statement pooling mode'));
        return release(client, client.session);
      }
      if (frame[0] === SYNC || frame[0] === SIMPLE_QUERY) client.unanswered += 1;
      client.session.socket.write(frame);
    }
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const client: Client = {
      socket,
      user: '',
      session: null,
      pending: Buffer.alloc(0),
      isStarted: false,
      unanswered: 0,
    };
    let serving: Promise<unknown> = Promise.resolve();
    socket.on('error', () => undefined);
    // Ends the session that a client still holds, in session mode or within a transaction, like PgBouncer.
    socket.on('close', () => client.session?.socket.destroy());
    socket.on('data', (data: Buffer) => {
      client.pending = Buffer.concat([client.pending, data]);
      if (!client.isStarted) {
        client.user = /user\0([^\0]+)/.exec(client.pending.toString())![1]!;
        client.pending = Buffer.alloc(0);
        client.isStarted = true;
        socket.write(GREETING);
        return;
      }
      if (client.pending[0] === TERMINATE) return void socket.end();
      serving = serving.then(() => serve(client)).catch((error: Error) => socket.end(fatal(error.message)));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: StubPooler = {
    url: `postgresql://${owner}:${password}@127.0.0.1:${port}/${database}?`,
    mode: options.mode,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return stub;
}

/** Complete messages, each a type of one byte and a length of four, and the rest. */
function splitFrames(buffer: Buffer): [frames: Buffer[], rest: Buffer] {
  const frames: Buffer[] = [];
  let from = 0;
  while (buffer.length >= from + 5) {
    const end = from + 1 + buffer.readUInt32BE(from + 1);
    if (buffer.length < end) break;
    frames.push(buffer.subarray(from, end));
    from = end;
  }
  return [frames, buffer.subarray(from)];
}

function encodeFrame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/**
 * AuthenticationOk, BackendKeyData and ReadyForQuery. The process id is made up, because a client's backend changes
 * with every transaction.
 */
const GREETING = Buffer.concat([
  encodeFrame('R', Buffer.alloc(4)),
  encodeFrame('K', Buffer.from([0x7f, 0, 0, 1, 0, 0, 0, 2])),
  encodeFrame('Z', Buffer.from('I')),
]);

const fatal = (message: string): Buffer => encodeFrame('E', Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`));
