/**
 * Auth links in mails carry tokens or an error in the query or the fragment, and a provider returns with a code. The
 * boot script removes them from the URL before anything else runs; from then on they exist only in the memory of this
 * page.
 */
import { ROUTES } from '#domain/routes.ts';

declare global {
  /** The parameters of the auth link, in the form of a query. */
  var hustleForgeAuthLink: string | undefined;
}

const AUTH_PARAMS = /(^|&)(access_token|token_hash|error|error_code|code)=/;
/** Threat: a link repeats `&message=`. A regular expression for both parameters would take quadratic time. */
const isNotice = (params: string): boolean => {
  const message = params.indexOf('&message=');
  return message !== -1 && params.includes('&sb=', message);
};

type Address = { pathname: string; search: string; hash: string };
export type AuthLink = {
  /** The path of the screen that handles the link. */
  path: string;
  /** Query and fragment, joined in the form of a query. */
  params: string;
};

/** Null for a URL without an auth link. */
export function findAuthLink({ pathname, search, hash }: Address): AuthLink | null {
  const params = `${search.slice(1)}&${hash.slice(1)}`;
  if (!AUTH_PARAMS.test(params) && !isNotice(params)) return null;
  const type = /(?:^|&)type=(\w*)/.exec(params)?.[1];
  const resetPath = ROUTES.resetPassword.path;
  // A link of another type on the reset page stays there: that page says that it is invalid.
  const isRecovery = type === 'recovery' || pathname === resetPath;
  return { path: isRecovery ? resetPath : ROUTES.login.path, params };
}

export const hasAuthLink = (): boolean => globalThis.hustleForgeAuthLink !== undefined;

export function clearAuthLink(): void {
  globalThis.hustleForgeAuthLink = undefined;
}
