/** Serves a simulator over HTTP, in the sandbox and alone for tests, and keeps everyone but this machine out. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono, MiddlewareHandler } from 'hono';

/** A request to a simulator, independent of its transport: over HTTP or in process. */
export type ApiRequest = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly query: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type HostEnv = { Bindings: HttpBindings };

/** @param prefix the path under which the simulator is mounted, without a trailing slash */
export async function readApiRequest(context: Context<HostEnv>, prefix = ''): Promise<ApiRequest> {
  const { pathname, search } = new URL(context.req.url);
  return {
    method: context.req.method,
    path: pathname.slice(prefix.length),
    query: search.slice(1),
    headers: context.req.header(),
    body: await context.req.text(),
  };
}

/** Closes the connection without an answer, as a broken network does. */
export function breakConnection({ env }: { env: HttpBindings }): Response {
  env.outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}

export type HostedApp = { readonly url: string; close(): Promise<void> };

/** @param port a loopback port, a free one if not given */
export async function serveApp(app: Pick<Hono<HostEnv>, 'fetch'>, port = 0): Promise<HostedApp> {
  const listener = getRequestListener(app.fetch);
  const server = createServer(
    (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing),
  );
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);

/**
 * Threats: a foreign site resolves its own host name to 127.0.0.1 and reads all mail (DNS rebinding, as in the server's
 * host guard), or posts a cross-site form that deletes all orders or approves a payment. Browsers send `Origin` with a
 * form, even those without fetch metadata; programs and plain links do not.
 */
export const originGuard: MiddlewareHandler = (context, next) => {
  const name = new URL(context.req.url).hostname;
  if (!LOCAL_HOSTS.has(name)) return Promise.resolve(context.text('This is not the host you are looking for.', 421));
  const changes = context.req.method !== 'GET' && context.req.method !== 'HEAD';
  if (changes && isCrossSite(context.req.header('sec-fetch-site'), context.req.header('origin'))) {
    return Promise.resolve(context.text('Cross-site requests are not allowed.', 403));
  }
  return next();
};

function isCrossSite(site: string | undefined, origin: string | undefined): boolean {
  if (site === 'cross-site') return true;
  // The sandbox's pages reach the simulators through the product's port, so every local port is trusted.
  return origin !== undefined && !(URL.canParse(origin) && LOCAL_HOSTS.has(new URL(origin).hostname));
}
