/**
 * The listening socket: time-outs against slow clients, security headers on every answer, and a stop that lets saves
 * that are under way finish.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { SecurityHeaders } from './security-headers.ts';
import { disconnectSlowReaders } from './requests/slow-readers.ts';

const HEADERS_TIMEOUT_MS = 15_000;
/** The largest save is 256 KB: a minute is plenty on a bad phone line, and a slow-drip client is cut off. */
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/** Nothing sent and nothing taken for so long: the client is gone, or wants us to keep its answer for ever. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_STOP_MS = 10_000;

/** One plain word after the wire's name: `/rest/v1/../../journal` begins like the API, and is answered with a page. */
const API = /^\/(?:rest|auth|functions)\/v1\/[\w-]+(?:\?|$)/;

/** What the system answers to a name or an address that it cannot listen on. */
const BIND_ADDRESS_ERRORS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOTFOUND', 'EAI_AGAIN']);

type Options = {
  host: string;
  port: number;
  headers: SecurityHeaders;
  fetch: Parameters<typeof getRequestListener>[0];
  idleTimeoutMs?: number;
};

export type Listening = {
  readonly port: number;
  /** Takes no new connection, lets requests under way finish (10 s at most), then closes what is left. */
  stop(): Promise<void>;
};

/** Rejects with an error fit for the operator when the port cannot be had. */
export async function listen({
  host,
  port,
  headers,
  fetch,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
}: Options): Promise<Listening> {
  // With the adapter's own light `Request` and `Response`: an answer goes out in one write, without a web stream.
  const handle = getRequestListener(fetch);
  let stopping = false;

  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 16 * 1024,
    },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      // Set here rather than in the app, so that no route, error or stream can answer without them.
      const due = API.test(incoming.url ?? '') ? headers.api : headers.page;
      for (const [name, value] of due) outgoing.setHeader(name, value);
      if (stopping) outgoing.setHeader('Connection', 'close');
      outgoing.once('finish', () => {
        if (stopping) setImmediate(() => server.closeIdleConnections());
      });
      void handle(incoming, outgoing);
    },
  );

  server.timeout = idleTimeoutMs;
  const stopDisconnecting = disconnectSlowReaders(server);

  await new Promise<void>((started, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      failed(toOperatorError(error, host, port));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      started();
    });
  });

  return {
    port: boundPort(server),
    stop() {
      stopping = true;
      stopDisconnecting();
      return new Promise((stopped) => {
        const limit = setTimeout(() => server.closeAllConnections(), MAX_STOP_MS);
        server.close(() => {
          clearTimeout(limit);
          stopped();
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
  return new Error(`HOST=${host} is no address of this machine: set HOST to 127.0.0.1, 0.0.0.0 or ::`, {
    cause: error,
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return address.port;
}
