/** Where a link in a mail may lead: nowhere that the operator has not allowed (docs/specification/wire.md 6). */
import type { Context } from 'hono';
import { isLoopback } from '#server/config/loopback.ts';
import { matchesPattern } from '#server/config/redirect-patterns.ts';
import type { AuthDeps } from '../auth-deps.ts';

/** The first allowed one of what the request names, else our own address. A refused one is passed over in silence. */
export function redirectTarget(context: Context, config: AuthDeps['config']): string {
  const named = [context.req.header('redirect_to'), context.req.query('redirect_to'), context.req.header('referer')];
  return named.find((target) => target !== undefined && isAllowed(target, config)) ?? config.publicUrl;
}

export const isOwnOrigin = (target: string, { publicUrl }: Pick<AuthDeps['config'], 'publicUrl'>): boolean =>
  new URL(target).origin === new URL(publicUrl).origin;

function isAllowed(target: string, { publicUrl, auth }: AuthDeps['config']): boolean {
  const url = parseUnambiguousUrl(target);
  if (url === null) return false;
  const home = new URL(publicUrl);
  if (url.origin === home.origin) return true;
  // Threat: on a public server, a stranger asks for the owner's recovery mail with a loopback target. Its link would hand
  // the session to whatever listens on that port of the owner's machine. So loopback needs a loopback server or a listing.
  if (isLoopback(home.hostname) && isLoopback(url.hostname) && /^https?:$/.test(url.protocol)) return true;
  return auth.redirectPatterns.some((pattern) => matchesPattern(url, pattern));
}

/** Letters, digits and hyphens, or an IPv6 address. `;` and `'` are legal in a URL's host and special in a policy. */
const PLAIN_HOST = /^[a-z0-9_.-]*$|^\[[0-9a-f:]+\]$/i;
/** A separator or control character that a server may decode after the path was matched. */
const ENCODED_SEPARATOR = /%(?:[01][0-9a-f]|2f|5c|7f)/i;

/**
 * The parsed address, or null for one that a browser, a proxy or an app could read differently than this parser: with
 * control or non-ASCII characters, a backslash, a user name, or a host in disguise (decimal, hexadecimal, full-width).
 */
function parseUnambiguousUrl(target: string): URL | null {
  if (/[^\x21-\x7e]|\\/.test(target)) return null;
  const url = URL.parse(target);
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (!PLAIN_HOST.test(url.hostname) || ENCODED_SEPARATOR.test(url.pathname)) return null;
  // The parser has rewritten a host in disguise by now, so the text no longer begins with it.
  const authority = /^[^:]+:\/\/[^/?#]*/.exec(target)?.[0].toLowerCase();
  return authority === `${url.protocol}//${url.host}`.toLowerCase() ? url : null;
}
