/** Who may ask the simulators: this machine's own programs, and pages that this machine shows. */
import type { MiddlewareHandler } from 'hono';

const NAMES: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);

/**
 * Threats: a page elsewhere points its own name at this port and reads everybody's mail (DNS rebinding, as in the
 * server's host guard); or it posts a form here, which clears the books or approves a payment. Browsers name the page
 * that sent a form in `Origin`, those without fetch metadata too; programs and plain links send none.
 */
export const ownPagesOnly: MiddlewareHandler = (context, next) => {
  const name = new URL(context.req.url).hostname;
  if (!NAMES.has(name)) return Promise.resolve(context.text('This is not the host you are looking for.', 421));
  const changes = context.req.method !== 'GET' && context.req.method !== 'HEAD';
  if (changes && isFromElsewhere(context.req.header('sec-fetch-site'), context.req.header('origin'))) {
    return Promise.resolve(context.text('Another site may change nothing here.', 403));
  }
  return next();
};

function isFromElsewhere(site: string | undefined, origin: string | undefined): boolean {
  if (site === 'cross-site') return true;
  // The sandbox's pages reach the simulators through the product's own port, so any port of this machine is our own.
  return origin !== undefined && !(URL.canParse(origin) && NAMES.has(new URL(origin).hostname));
}
