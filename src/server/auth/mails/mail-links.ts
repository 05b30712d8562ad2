/** What a link in a mail looks like. */
import { ROUTES } from '#domain/routes.ts';
import type { AuthDeps } from '../auth-deps.ts';
import { leadsHome } from '../wire/redirects.ts';

export type LinkType = 'signup' | 'recovery' | 'email_change';

const PAGES = {
  signup: ROUTES.login.path,
  recovery: ROUTES.resetPassword.path,
  email_change: ROUTES.login.path,
} as const satisfies Record<LinkType, string>;

/**
 * Our own pages use the token only after a click, because mail scanners open every link and would use it up.
 * Somebody else's page takes no token, so its link opens GET /verify, where a click hands it a session.
 */
export function mailLink(config: AuthDeps['config'], type: LinkType, linkToken: string, redirectTo: string): string {
  if (leadsHome(redirectTo, config)) {
    return `${config.publicUrl}${PAGES[type]}?${new URLSearchParams({ token_hash: linkToken, type }).toString()}`;
  }
  const query = new URLSearchParams({ token: linkToken, type, redirect_to: redirectTo });
  return `${config.publicUrl}/auth/v1/verify?${query.toString()}`;
}
