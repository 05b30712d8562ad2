/**
 * The HTTP listener: timeouts against slow clients, security headers, and a graceful shutdown that lets requests in
 * flight finish.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { SecurityHeaders } from './security-headers.ts';
import { createLimiters, type Limiters } from '../load/limiters.ts';
import { guardConnections, GuardedRequest, type ConnectionGuard } from './connection-guard.ts';

/** Threat: a Slowloris client that sends its headers byte by byte and holds a connection with hardly any traffic. */
const HEADERS_TIMEOUT_MS = 15_000;
/** How often Node checks the time-outs of headers and requests, so a time-out may apply this much later. */
const TIMEOUT_CHECK_MS = 5_000;
/**
 * A save of 256 KB, the largest log, arrives within this time even on a bad connection. Threat: a client that sends its
 * body byte by byte.
 */
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/**
 * A connection without traffic in either direction is closed after this. Threat: a client that never reads its
 * response.
 */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_STOP_MS = 10_000;
/**
 * While a server drains, a client gets this long to send another request on its connection and to learn from the
 * response that the connection ends. Closing it at once would cut a request that is on its way.
 */
const DRAIN_IDLE_MS = 5_000;
/** An analysis of the coach takes up to 60 s by default. */
const MAX_DRAIN_MS = 75_000;
/**
 * Connections that the system keeps until they are accepted; it may set a lower limit. The client of a connection
 * beyond it repeats its attempt after 1, 3, 7, … s, so a burst of clients would delay the others by up to a minute.
 */
const BACKLOG = 4_096;

/**
 * Matches the API's prefix and exactly one plain path segment: `/rest/v1/../../journal` begins like the API, but is
 * answered with a page, which needs the Content-Security-Policy.
 */
const API = /^\/(?:rest|auth|functions)\/v1\/[\w-]+(?:\?|$)/;

/** Errors of binding a name or an address that this machine does not have. */
const BIND_ADDRESS_ERRORS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOTFOUND', 'EAI_AGAIN']);

type Options = {
  host: string;
  port: number;
  headers: SecurityHeaders;
  fetch: Parameters<typeof getRequestListener>[0];
  headersTimeoutMs?: number;
  idleTimeoutMs?: number;
  drainIdleMs?: number;
  limiters?: Limiters;
  /** All connections come from a proxy that names the client's address in a header. */
  isBehindProxy?: boolean;
};

export type ListeningServer = {
  readonly port: number;
  /** Stops accepting connections; resolves when all have ended, or after 75 s. `stop` may be called meanwhile. */
  drain(): Promise<void>;
  /** Stops accepting connections, waits up to 10 s for requests in flight, then closes the remaining connections. */
  stop(): Promise<void>;
};

/** Rejects with an error message for the operator if it cannot bind the port. */
export async function listen({
  host,
  port,
  headers,
  fetch,
  headersTimeoutMs = HEADERS_TIMEOUT_MS,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
  drainIdleMs = DRAIN_IDLE_MS,
  limiters = createLimiters(),
  isBehindProxy = false,
}: Options): Promise<ListeningServer> {
  // Keeps the adapter's default `overrideGlobalObjects`: its lightweight `Request` and `Response` send a response in
  // one write, without a web stream.
  const handle = getRequestListener(fetch);
  let isStopping = false;
  /** True late in a drain, and in a stop: a connection is closed once it has no request. */
  let isClosingIdle = false;

  /** The newest response of each connection. */
  const newest = new WeakMap<Socket, ServerResponse>();

  // Set before the server listens.
  let guard!: ConnectionGuard;
  const server = createServer(
    {
      IncomingMessage: GuardedRequest,
      headersTimeout: headersTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 16 * 1024,
    },
    (incoming: GuardedRequest, outgoing: ServerResponse) => {
      // The headers are set here instead of in the app, so that no route, error or stream can respond without them.
      const securityHeaders = API.test(incoming.url ?? '') ? headers.api : headers.page;
      for (const [name, value] of securityHeaders) outgoing.setHeader(name, value);
      if (isStopping) outgoing.setHeader('Connection', 'close');
      if (!guard.beginRequest(incoming, outgoing)) return;
      outgoing.once('close', () => {
        guard.endRequest(incoming, outgoing);
        if (isClosingIdle) setImmediate(() => server.closeIdleConnections());
      });
      // Threat: a client sends many requests on one connection at once and leaves. Each begins once the one before it
      // is answered, for which its own answer has to wait anyway. So the rest are never run.
      const { socket } = incoming;
      const earlier = newest.get(socket);
      newest.set(socket, outgoing);
      const begin = (): void => {
        if (!socket.destroyed) void handle(incoming, outgoing);
      };
      if (earlier === undefined || earlier.closed) begin();
      else earlier.once('close', begin);
    },
  );

  server.timeout = idleTimeoutMs;
  guard = guardConnections(server, { limiters, isBehindProxy });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(toOperatorError(error, host, port));
    });
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });

  return {
    port: boundPort(server),
    async drain() {
      isStopping = true;
      const { promise: hasEnded, resolve } = Promise.withResolvers<void>();
      // `http.Server.close` would close the idle connections as well.
      NetServer.prototype.close.call(server, () => resolve());
      const idleTimer = setTimeout(() => {
        isClosingIdle = true;
        server.closeIdleConnections();
      }, drainIdleMs);
      const limitTimer = setTimeout(resolve, MAX_DRAIN_MS);
      await hasEnded;
      clearTimeout(idleTimer);
      clearTimeout(limitTimer);
    },
    stop() {
      isStopping = true;
      isClosingIdle = true;
      guard.stop();
      return new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), MAX_STOP_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

function toOperatorError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = '' } = error;
  if (code === 'EADDRINUSE') return new Error(`port ${port} is taken: set PORT to another one`, { cause: error });
  if (code === 'EACCES') {
    return new Error(`this user may not listen on port ${port}: set PORT to 1024 or higher`, { cause: error });
  }
  if (!BIND_ADDRESS_ERRORS.has(code)) return error;
  return new Error(`HOST=${host} is not an address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or ::`, {
    cause: error,
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return address.port;
}
