/**
 * Sign-ins and links that leave the page for a provider and return with a code (docs/specification/api.md 24).
 *
 * Threat (login CSRF): an attacker's code in a link would sign its reader in to the attacker's account. The code is
 * worth nothing without its verifier, which only the browser that started the sign-in has.
 */
import { AuthClient, type Session } from '@supabase/auth-js';
import type { ClientConfig } from '#domain/client-config.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Auth } from './supabase.ts';

const STORAGE_KEY = 'hustle-forge-flow';
const isVerifier = (key: string): boolean => key.endsWith('code-verifier');

/**
 * Stores the PKCE verifiers in this browser, and everything else, such as the session, in memory. With `session`,
 * `linkIdentity` can link a provider to that session's user. `authFetch` sends the requests of this client, for example
 * with a captcha token.
 */
export function createPkceAuth(
  config: ClientConfig,
  session: Session | null = null,
  authFetch: typeof fetch = (...request) => fetch(...request),
): Auth {
  const memory = new Map<string, string>();
  if (session) memory.set(STORAGE_KEY, JSON.stringify(session));
  return new AuthClient({
    url: `${config.apiUrl || location.origin}/auth/v1`,
    headers: { apikey: config.publishableKey },
    storageKey: STORAGE_KEY,
    fetch: authFetch,
    storage: {
      getItem: (key) => (isVerifier(key) ? localStorage.getItem(key) : (memory.get(key) ?? null)),
      setItem: (key, value) => void (isVerifier(key) ? localStorage.setItem(key, value) : memory.set(key, value)),
      removeItem: (key) => void (isVerifier(key) ? localStorage.removeItem(key) : memory.delete(key)),
    },
    flowType: 'pkce',
    detectSessionInUrl: false,
    autoRefreshToken: false,
    // Two tabs may each start a sign-in: the id of the flow in the redirect URL selects the right verifier.
    experimental: { appendPkceFlowIdToRedirects: true },
  });
}

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
