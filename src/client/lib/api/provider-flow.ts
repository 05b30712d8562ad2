/** A sign-in or a link that leaves the page for a provider and returns with a code (docs/specification/wire.md 24). */
import { ROUTES } from '#domain/routes.ts';

/**
 * The flow decides what follows the return: a sign-in, a linked provider on the profile page, or (`tab`) a sign-in on
 * behalf of another tab, whose session has expired and whose page stays open.
 */
export const FLOWS = ['signIn', 'link', 'tab'] as const;
export type Flow = (typeof FLOWS)[number];

/** The key in sessionStorage of the path and query to open after the sign-in. */
export const RETURN_PATH_KEY = 'hustle-forge:return-path';

/** The page that a flow returns to. `provider` is empty for single sign-on. */
export const flowReturnUrl = (flow: Flow, provider: string): string =>
  `${location.origin}${ROUTES.login.path}?${new URLSearchParams({ flow, provider }).toString()}`;
