/**
 * Links of mails bring tokens or an error in the query or the fragment. The early script takes them out of the address
 * before anything else runs; from then on they live in the memory of this page and nowhere else.
 */
import { ROUTES } from '#domain/routes.ts';

declare global {
  /** What the link brought, in the form of a query. */
  var hustleForgeAuthLink: string | undefined;
}

const BROUGHT_BY_LINK = /(^|&)(access_token|token_hash|error|error_code)=|&message=.*&sb=/;

type Address = Pick<Location, 'pathname' | 'search' | 'hash'>;
export type ArrivedLink = { /** The page that explains the link. */ page: string; given: string };

/** Null for an address without a link. */
export function findAuthLink({ pathname, search, hash }: Address): ArrivedLink | null {
  const given = `${search.slice(1)}&${hash.slice(1)}`;
  if (!BROUGHT_BY_LINK.test(given)) return null;
  const type = /(?:^|&)type=(\w*)/.exec(given)?.[1];
  const resetPage = ROUTES.resetPassword.path;
  const resets = type === 'recovery' || (type === undefined && pathname === resetPage);
  return { page: resets ? resetPage : ROUTES.login.path, given };
}

export const hasAuthLink = (): boolean => globalThis.hustleForgeAuthLink !== undefined;

export function clearAuthLink(): void {
  globalThis.hustleForgeAuthLink = undefined;
}
