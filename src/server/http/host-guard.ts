/**
 * Rejects unknown `Host` names while the sandbox is on.
 *
 * Threat: DNS rebinding. A malicious page points its own host name at 127.0.0.1 and reads the sandbox's mail as "same
 * origin"; its requests still carry its own name in `Host`.
 */
import type { MiddlewareHandler, Context } from 'hono';
import type { Config } from '../config/config.ts';
import { isLoopback, isPrivateNetworkHost } from '../config/private-network.ts';
import { isWebProtocol, matchesHost } from '../config/redirect-patterns.ts';
import type { AppEnv } from './app-env.ts';
import { errorResponse } from './error-response.ts';

export function hostGuard(config: Pick<Config, 'publicUrl'>): MiddlewareHandler<AppEnv> {
  const publicHost = new URL(config.publicUrl).hostname;
  return (context, next) => {
    const host = context.req.header('host') ?? '';
    const name = host.replace(/:\d+$/, '').toLowerCase();
    if (isLoopback(name) || name === publicHost) return next();
    return Promise.resolve(errorResponse(context, 'misdirected_request'));
  };
}

// Redirects pages requested under another host name to PUBLIC_URL (docs/specification/accounts.md 11).
//
// A session belongs to one origin: a user who opens a mail's link on `127.0.0.1` instead of `localhost` would be signed
// in on an origin that they do not use. Browsers preserve the fragment in a redirect.

type HostConfig = { readonly publicUrl: string; readonly auth: Pick<Config['auth'], 'redirectPatterns'> };

/** @param isPage whether a page is served at this path: APIs, files and health checks are not redirected */
export function canonicalHost(config: HostConfig, isPage: (path: string) => boolean): MiddlewareHandler<AppEnv> {
  const home = new URL(config.publicUrl);
  return async (context, next) => {
    const { method, path } = context.req;
    if ((method !== 'GET' && method !== 'HEAD') || !isPage(path)) return next();
    if (isHomeOrAllowed(context.req.header('host') ?? '', home, config.auth)) return next();
    // Threat: open redirect and cache poisoning through `Host` or `X-Forwarded-Host`. The target is always PUBLIC_URL,
    // `X-Forwarded-Host` is not read, and the response is not cached.
    context.header('Cache-Control', 'no-store');
    const { pathname, search } = new URL(context.req.url);
    return context.redirect(home.origin + pathname + search, 302);
  };
}

/**
 * Ignores the port, because proxies drop it and tunnels change it. Allows a host that is closer to this machine than
 * PUBLIC_URL (loopback or private network): a proxy that does not forward `Host` sends such a name, and a redirect
 * would loop. Also allows the hosts of AUTH_REDIRECT_URLS.
 */
function isHomeOrAllowed(host: string, home: URL, { redirectPatterns }: HostConfig['auth']): boolean {
  const requested = URL.parse(`${home.protocol}//${host}`);
  if (requested === null || requested.hostname === home.hostname) return true;
  if (proximity(requested.hostname) > proximity(home.hostname)) return true;
  return redirectPatterns.some((pattern) => {
    // An app's scheme names no web host: `myapp://**` would allow every host name.
    if (!isWebProtocol(pattern)) return false;
    const url = URL.parse(`${pattern.protocol}//${host}`);
    return url !== null && matchesHost(url, pattern);
  });
}

const proximity = (hostname: string): number => (isLoopback(hostname) ? 2 : isPrivateNetworkHost(hostname) ? 1 : 0);

// Detects cross-site requests.
//
// Threat: login CSRF. Cookies do not authenticate requests here, so a cross-site request cannot act as the user. It
// could still set cookies: the response to a form submission is a top-level navigation and can set even a
// `SameSite=Strict` cookie.

/**
 * Browsers send `Sec-Fetch-Site` to https and loopback origins. Otherwise a form submission has an `Origin`, which is
 * `null` for a page with `no-referrer`. A request with neither header comes from a client other than a browser, and is
 * not cross-site.
 */
export function isCrossSiteRequest(context: Context<AppEnv>, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  const site = context.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = context.req.header('origin');
  if (origin === undefined || origin === new URL(publicUrl).origin) return false;
  // Pages are also served under the hosts of AUTH_REDIRECT_URLS, so a page of the requested host is not cross-site.
  return URL.parse(origin)?.host !== context.req.header('host');
}
