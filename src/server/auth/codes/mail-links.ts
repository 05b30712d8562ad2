import { ROUTES } from '#domain/routes.ts';
import { isPkceLink } from './one-time-tokens.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { isOwnOrigin } from '../http/redirects.ts';

export type LinkType = 'signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change';

const PAGES = {
  signup: ROUTES.login.path,
  invite: ROUTES.login.path,
  magiclink: ROUTES.login.path,
  recovery: ROUTES.resetPassword.path,
  email_change: ROUTES.login.path,
} as const satisfies Record<LinkType, string>;

/**
 * Returns the address of a mailed link. Mail scanners open every link, so a token is consumed only after a click. A
 * link to our own site opens one of our pages, which takes the token. The page of another application takes no token,
 * so its link opens GET /verify, whose button redirects to the application with a session. A PKCE client expects an
 * auth code, so its links open GET /verify too.
 */
export function mailLink(config: AuthDeps['config'], type: LinkType, linkToken: string, redirectTo: string): string {
  if (isOwnOrigin(redirectTo, config) && !isPkceLink(linkToken)) {
    return `${config.publicUrl}${PAGES[type]}?${new URLSearchParams({ token_hash: linkToken, type }).toString()}`;
  }
  const query = new URLSearchParams({ token: linkToken, type, redirect_to: redirectTo });
  return `${config.publicUrl}/auth/v1/verify?${query.toString()}`;
}

/** Returns the address of the page that offers to keep an account whose owner asked to delete it. */
export const undoDeletionLink = (config: Pick<AuthDeps['config'], 'publicUrl'>, linkToken: string): string =>
  `${config.publicUrl}/auth/v1/account/undo-deletion?${new URLSearchParams({ token_hash: linkToken }).toString()}`;
