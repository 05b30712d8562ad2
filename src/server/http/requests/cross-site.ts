/**
 * Whether a page of another site made the browser send a request (cross-site request forgery).
 *
 * No cookie signs anybody in here, so such a request reads and changes nothing of the user's. It could still leave
 * something in the browser: the answer to a form is a page of its own, and may set even a `SameSite=Strict` cookie.
 */
import type { Context } from 'hono';
import type { Config } from '#server/config/config.ts';
import type { AppEnv } from '../app-env.ts';

/**
 * Browsers send `Sec-Fetch-Site` to https and loopback addresses. Without it a form still names the page that it stands on
 * in `Origin`, `null` for a page that hides it. Programs send neither.
 */
export function isCrossSiteRequest(context: Context<AppEnv>, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  const site = context.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = context.req.header('origin');
  if (origin === undefined || origin === new URL(publicUrl).origin) return false;
  // Pages answer under the hosts of AUTH_REDIRECT_URLS as well.
  return URL.parse(origin)?.host !== context.req.header('host');
}
