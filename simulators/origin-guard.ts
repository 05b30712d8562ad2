/** Restricts the simulators to local programs and to pages served from this machine. */
import type { MiddlewareHandler } from 'hono';

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
