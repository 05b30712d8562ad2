/**
 * Redirects pages requested under another host name to PUBLIC_URL (docs/specification/accounts.md 11).
 *
 * A session belongs to one origin: a user who opens a mail's link on `127.0.0.1` instead of `localhost` would be signed
 * in on an origin that they do not use. Browsers preserve the fragment in a redirect.
 */
import type { MiddlewareHandler } from 'hono';
import type { Config } from '#server/config/config.ts';
import { isLoopback } from '#server/config/loopback.ts';
import { isPrivateNetworkHost } from '#server/config/private-network.ts';
import { isWebProtocol, matchesHost } from '#server/config/redirect-patterns.ts';
import type { AppEnv } from '../app-env.ts';

type HostConfig = { readonly publicUrl: string; readonly auth: Pick<Config['auth'], 'redirectPatterns'> };

/** @param isPage whether a page is served at this path; wires, files and health checks respond under every host name */
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
 * would loop.
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
