/**
 * Redirects pages that are asked for under another host name to PUBLIC_URL (docs/specification/accounts.md 11).
 *
 * A session belongs to one origin: whoever opens a mail's link on `127.0.0.1` instead of `localhost` would be signed in
 * where they never check again. Browsers carry a fragment over by themselves.
 */
import type { MiddlewareHandler } from 'hono';
import type { Config } from '#server/config/config.ts';
import { isLoopback } from '#server/config/loopback.ts';
import { isPrivateNetworkHost } from '#server/config/private-network.ts';
import { isWeb, namesHost } from '#server/config/redirect-patterns.ts';
import type { AppEnv } from '../app-env.ts';

type Settings = { readonly publicUrl: string; readonly auth: Pick<Config['auth'], 'redirectPatterns'> };

/** @param isPage whether a page is served at this path; wires, files and health checks answer under every name */
export function canonicalHost(config: Settings, isPage: (path: string) => boolean): MiddlewareHandler<AppEnv> {
  const home = new URL(config.publicUrl);
  return async (context, next) => {
    const { method, path } = context.req;
    if ((method !== 'GET' && method !== 'HEAD') || !isPage(path)) return next();
    if (isHomeOrAllowed(context.req.header('host') ?? '', home, config.auth)) return next();
    // Threat: an answer made from `Host` or `X-Forwarded-Host` leads where its sender likes, or lies in a cache for
    // others. Only PUBLIC_URL is ever named, the latter header is not read, and no cache keeps the answer.
    context.header('Cache-Control', 'no-store');
    const { pathname, search } = new URL(context.req.url);
    return context.redirect(home.origin + pathname + search, 302);
  };
}

/**
 * Compared without the port, because proxies drop it and tunnels change it. A name that is nearer to this machine than
 * PUBLIC_URL (loopback, or of the own network) is let through: that is what a proxy makes of `Host` when it does not pass
 * it on, and a redirect would come back for ever.
 */
function isHomeOrAllowed(host: string, home: URL, { redirectPatterns }: Settings['auth']): boolean {
  const asked = URL.parse(`${home.protocol}//${host}`);
  if (asked === null || asked.hostname === home.hostname) return true;
  if (proximity(asked.hostname) > proximity(home.hostname)) return true;
  return redirectPatterns.some((pattern) => {
    // The scheme of an app names no host of the web: `myapp://**` would let every name through.
    if (!isWeb(pattern)) return false;
    const url = URL.parse(`${pattern.protocol}//${host}`);
    return url !== null && namesHost(url, pattern);
  });
}

const proximity = (hostname: string): number => (isLoopback(hostname) ? 2 : isPrivateNetworkHost(hostname) ? 1 : 0);
