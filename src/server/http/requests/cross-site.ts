/**
 * Detects cross-site requests.
 *
 * Threat: login CSRF. Cookies do not authenticate requests here, so a cross-site request cannot act as the user. It
 * could still set cookies: the response to a form submission is a top-level navigation and can set even a
 * `SameSite=Strict` cookie.
 */
import type { Context } from 'hono';
import type { Config } from '#server/config/config.ts';
import type { AppEnv } from '../app-env.ts';

/**
 * Browsers send `Sec-Fetch-Site` to https and loopback origins. Otherwise a form submission has an `Origin`, which is
 * `null` for a page with `no-referrer`. Clients other than browsers send neither header, and their requests are not
 * cross-site.
 */
export function isCrossSiteRequest(context: Context<AppEnv>, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  const site = context.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = context.req.header('origin');
  if (origin === undefined || origin === new URL(publicUrl).origin) return false;
  // Pages are also served under the hosts of AUTH_REDIRECT_URLS, so a page of the requested host is not cross-site.
  return URL.parse(origin)?.host !== context.req.header('host');
}
