/**
 * Bounds what connections hold, and disconnects slow clients (docs/operations/overload.md).
 *
 * Threats: a client opens thousands of connections and keeps them; sends a request byte by byte (Slowloris); never
 * reads its responses, which are buffered in memory until it does; sends many requests on one connection without
 * waiting for a response (pipelining); sends a body in pieces of one byte, each of which Node buffers as an object of
 * over 100 bytes.
 */
import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Limiters } from '../load/limiters.ts';
import { networkPrefix } from './client-address.ts';

/** Room for the 4,000 streams of changes (`MAX_STREAMS` in `functions/change-streams.ts`) and as many other connections. */
const MAX_CONNECTIONS = 8_000;
/** A connection with more unanswered requests is closed. Browsers and proxies send one at a time. */
const MAX_PIPELINED_REQUESTS = 16;
/**
 * The lowest average speed, after the grace time, of a body or a response that does not fit into the buffers on the
 * way.
 */
const MIN_BYTES_PER_SECOND = 1_024;
const SEND_GRACE_MS = 10_000;
const READ_GRACE_MS = 30_000;
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
const CHECK_INTERVAL_MS = 1_000;
/**
 * A body may have this many pieces, and one more for each 64 bytes. A packet of the network holds 500 bytes or more, so
 * only a client that writes tiny chunks gets there. Eight bodies of a megabyte in single bytes would occupy the event
 * loop for four seconds.
 */
const MAX_PIECES = 1_024;
const BYTES_PER_PIECE = 64;
const TOO_MANY_PIECES = JSON.stringify({
  code: 'too_many_pieces',
  message: 'The request body came in too many small pieces. Please send it in larger ones.',
});

type Options = {
  limiters: Limiters;
  /** True: all connections come from the proxy, so no address is limited. */
  isBehindProxy: boolean;
  maxConnections?: number;
  maxBufferedBytes?: number;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  /** Calls `check` repeatedly and returns a function that stops the calls. */
  schedule?: (check: () => void) => () => void;
};

/**
 * `since`: when the server began to wait for the client, in milliseconds. `bytes`: transferred on the socket until
 * then.
 */
type Progress = { since: number; bytes: number };
type Connection = {
  readonly client: string;
  /** The newest request. */
  request: IncomingMessage | null;
  readonly unanswered: Set<ServerResponse>;
  sending: Progress | null;
  reading: Progress | null;
};

export type ConnectionGuard = {
  /** Call for each request, which the server creates as a `GuardedRequest`. False: the connection has been closed. */
  beginRequest(incoming: GuardedRequest, outgoing: ServerResponse): boolean;
  endRequest(incoming: IncomingMessage, outgoing: ServerResponse): void;
  stop(): void;
};

export function guardConnections(
  server: Server,
  {
    limiters,
    isBehindProxy,
    maxConnections = MAX_CONNECTIONS,
    maxBufferedBytes = MAX_BUFFERED_BYTES,
    now = () => performance.now(),
    schedule = checkEverySecond,
  }: Options,
): ConnectionGuard {
  const connections = new Map<Socket, Connection>();
  const quota = limiters.createQuota('connections', maxConnections, reclaim);
  const slowClients = limiters.createCounter('slow_clients');
  let accepted = 0;

  server.on('connection', (socket) => {
    accepted += 1;
    const client = isBehindProxy ? `connection ${accepted}` : networkPrefix(socket.remoteAddress ?? 'unknown');
    if (!quota.take(client)) {
      socket.destroy();
      return;
    }
    connections.set(socket, { client, request: null, unanswered: new Set(), sending: null, reading: null });
    socket.once('close', () => release(socket));
  });

  function release(socket: Socket): void {
    const connection = connections.get(socket);
    if (!connection) return;
    connections.delete(socket);
    quota.giveBack(connection.client);
  }

  /** Closes the client's oldest idle connection, or else its oldest one without a request that is being processed. */
  function reclaim(client: string): void {
    let chosen: Socket | null = null;
    for (const [socket, connection] of connections) {
      if (connection.client !== client || isProcessing(connection)) continue;
      chosen ??= socket;
      if (connection.unanswered.size > 0) continue;
      chosen = socket;
      break;
    }
    if (chosen) close(chosen);
  }

  /** Unlike `destroy`, gives the place back at once. */
  function close(socket: Socket): void {
    release(socket);
    socket.destroy();
  }

  function check(): void {
    const at = now();
    let buffered = 0;
    for (const [socket, connection] of connections) {
      if (isSlowSender(socket, connection, at) || isSlowReader(socket, connection, at)) disconnect(socket);
      else buffered += bufferedBytes(socket, connection);
    }
    if (buffered <= maxBufferedBytes) return;
    const bySize = [...connections]
      .filter(([socket]) => !socket.destroyed)
      .map(([socket, connection]) => ({ socket, bytes: bufferedBytes(socket, connection) }));
    for (const { socket, bytes } of bySize.sort((a, b) => b.bytes - a.bytes)) {
      if (buffered <= maxBufferedBytes) return;
      buffered -= bytes;
      disconnect(socket);
    }
  }

  function disconnect(socket: Socket): void {
    slowClients.add();
    socket.destroy();
  }

  /** Disconnects after a 400 that tells the client why, which is left out if an earlier response is on its way. */
  function refusePieces(socket: Socket, { unanswered }: Connection): void {
    const [outgoing] = unanswered;
    if (socket.destroyed) return;
    if (unanswered.size === 1 && !outgoing!.headersSent) {
      const head = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n';
      socket.write(`${head}Content-Length: ${TOO_MANY_PIECES.length}\r\n\r\n${TOO_MANY_PIECES}`);
    }
    disconnect(socket);
  }

  const stop = schedule(check);
  return {
    stop,
    beginRequest(incoming, outgoing) {
      const connection = connections.get(incoming.socket);
      if (!connection) return false;
      connection.request = incoming;
      connection.sending = null;
      connection.unanswered.add(outgoing);
      incoming.refusePieces = () => refusePieces(incoming.socket, connection);
      if (connection.unanswered.size <= MAX_PIPELINED_REQUESTS) return true;
      dropPipelined(incoming.socket);
      disconnect(incoming.socket);
      return false;
    },
    endRequest({ socket }, outgoing) {
      const connection = connections.get(socket);
      connection?.unanswered.delete(outgoing);
      // Threat: a pipelining client always has a request that is being processed, so `reclaim` would spare it for ever.
      if (connection && quota.shouldShrink(connection.client)) close(socket);
    },
  };
}

/**
 * Drops the requests that follow in what Node has read. Threat: Node parses the 64 KB to their end, also after
 * `destroy`, and the connection holds those 2,000 requests, over 3 KB each, while its first one waits.
 */
function dropPipelined(socket: Socket): void {
  (socket as Socket & { parser: { onIncoming: () => number } }).parser.onIncoming = () => 0;
}

/**
 * Whether the server has a whole request that it has not begun to answer, such as a save. Requests that the client can
 * prolong do not count: a body on its way, a download, a stream.
 */
const isProcessing = ({ unanswered }: Connection): boolean =>
  [...unanswered].some(({ req, headersSent }) => req.complete && !headersSent);

/**
 * Limits the pieces of its body: Node's parser pushes each as it arrives. A class, because V8 makes a request that gets
 * an accessor of its own a dictionary of 1.6 KB, with slow properties.
 */
export class GuardedRequest extends IncomingMessage {
  room = MAX_PIECES;
  /** Set by the guard. */
  refusePieces = (): void => {};

  /**
   * Always false. Otherwise Node discards the rest of a body after the response before `push` counts it, at almost the
   * same cost.
   */
  get _dumped(): boolean {
    return false;
  }
  set _dumped(_isDumped) {}

  override push(piece: Buffer | null): boolean {
    this.room += (piece?.length ?? 0) / BYTES_PER_PIECE - 1;
    if (this.room >= 0) return super.push(piece);
    this.refusePieces();
    return false;
  }
}

/** Node holds a response itself, and not in its socket, until the responses before it are written (pipelining). */
function bufferedBytes(socket: Socket, { unanswered }: Connection): number {
  let bytes = socket.writableLength;
  for (const outgoing of unanswered) if (outgoing.socket === null) bytes += outgoing.writableLength;
  return bytes;
}

function isSlowSender(socket: Socket, connection: Connection, at: number): boolean {
  const { request } = connection;
  // With a full buffer the client is not slow: it waits for this server, which has not read the body yet.
  const isExpected =
    request !== null &&
    !request.complete &&
    request.readableLength < request.readableHighWaterMark &&
    !request.destroyed;
  connection.sending = isExpected ? (connection.sending ?? { since: at, bytes: socket.bytesRead }) : null;
  return connection.sending !== null && isTooSlow(connection.sending, socket.bytesRead, at, SEND_GRACE_MS);
}

function isSlowReader(socket: Socket, connection: Connection, at: number): boolean {
  const flushed = socket.bytesWritten - socket.writableLength;
  connection.reading = socket.writableLength > 0 ? (connection.reading ?? { since: at, bytes: flushed }) : null;
  return connection.reading !== null && isTooSlow(connection.reading, flushed, at, READ_GRACE_MS);
}

const isTooSlow = (start: Progress, bytes: number, at: number, graceMs: number): boolean =>
  at - start.since > graceMs && bytes - start.bytes < ((at - start.since) / 1_000) * MIN_BYTES_PER_SECOND;

function checkEverySecond(check: () => void): () => void {
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
