/** Who may ask the simulators: this machine's own programs, and pages that this machine shows. */
import type { MiddlewareHandler } from 'hono';

const NAMES: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);

/**
 * Threats: a page somewhere that points its own name at this port and reads everybody's mail (DNS rebinding, as in the
 * server's host guard); and one that sends a form here, which clears the books or approves a payment without an answer.
 */
export const ownPagesOnly: MiddlewareHandler = (context, next) => {
  const name = new URL(context.req.url).hostname;
  if (!NAMES.has(name)) return Promise.resolve(context.text('This is not the host you are looking for.', 421));
  const changes = context.req.method !== 'GET' && context.req.method !== 'HEAD';
  if (changes && context.req.header('sec-fetch-site') === 'cross-site') {
    return Promise.resolve(context.text('Another site may change nothing here.', 403));
  }
  return next();
};
