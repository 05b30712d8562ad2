/**
 * Checks the addresses to which a mailed link, a provider or SAML may send a browser, and the page that a wallet may
 * sign in to: only the origin of PUBLIC_URL, loopback addresses of a loopback server, and the operator's allow-list
 * (docs/specification/api.md 6).
 */
import type { Context } from 'hono';
import { isLoopback } from '#server/config/private-network.ts';
import { matchesPattern } from '#server/config/redirect-patterns.ts';
import type { AuthDeps } from './auth-deps.ts';

/**
 * Returns the first allowed target that the request names, else PUBLIC_URL. Disallowed targets are ignored silently.
 */
export function redirectTarget(context: Context, config: AuthDeps['config']): string {
  const candidates = [
    context.req.header('redirect_to'),
    context.req.query('redirect_to'),
    context.req.header('referer'),
  ];
  return candidates.find((target) => target !== undefined && isAllowedTarget(target, config)) ?? config.publicUrl;
}

export const isOwnOrigin = (target: string, { publicUrl }: Pick<AuthDeps['config'], 'publicUrl'>): boolean =>
  new URL(target).origin === new URL(publicUrl).origin;

/** Whether a redirect may lead to the target, and a wallet may sign in for it. */
export function isAllowedTarget(target: string, { publicUrl, auth }: AuthDeps['config']): boolean {
  const url = parseUnambiguousUrl(target);
  if (url === null) return false;
  const home = new URL(publicUrl);
  if (url.origin === home.origin) return true;
  // Threat: on a public server a stranger requests the owner's recovery mail with a loopback target. Its link would
  // give the session to any program on that port of the owner's machine. Loopback targets therefore need a loopback
  // server or a listing.
  if (isLoopback(home.hostname) && isLoopback(url.hostname) && /^https?:$/.test(url.protocol)) return true;
  return auth.redirectPatterns.some((pattern) => matchesPattern(url, pattern));
}

/**
 * Longer than any real target. Threat: a pattern with several `*` takes polynomial time for a host of thousands of
 * characters.
 */
const MAX_TARGET_LENGTH = 2_048;
/** A name, an IPv4 or an IPv6 address. `;` and `'` are legal in a URL's host but special in a CSP header. */
const PLAIN_HOST = /^[a-z0-9_.-]*$|^\[[0-9a-f:]+\]$/i;
/** A separator or control character that a server may decode after the path has been matched. */
const ENCODED_SEPARATOR = /%(?:[01][0-9a-f]|2f|5c|7f)/i;

/**
 * Returns null for a URL that is too long, and for one that a browser, a proxy or an app could parse differently: with
 * control or non-ASCII characters, a backslash, a user name, an encoded separator in the path, or an obfuscated host
 * (decimal, hexadecimal, full-width).
 */
function parseUnambiguousUrl(target: string): URL | null {
  if (target.length > MAX_TARGET_LENGTH || /[^\x21-\x7e]|\\/.test(target)) return null;
  const url = URL.parse(target);
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (!PLAIN_HOST.test(url.hostname) || ENCODED_SEPARATOR.test(url.pathname)) return null;
  // The parser normalizes an obfuscated host, so the text then does not begin with the parsed host.
  const authority = /^[^:]+:\/\/[^/?#]*/.exec(target)?.[0].toLowerCase();
  return authority === `${url.protocol}//${url.host}`.toLowerCase() ? url : null;
}

const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** The `error` parameter of a redirect by HTTP status. Other statuses have none. */
export const oauthErrorName = (status: number): string | undefined => OAUTH_ERRORS[status];
