/** auth-js, the client of /auth/v1. The shell of the app loads it after the screen (`loadAuth` of supabase.ts). */
import { AuthClient } from '@supabase/auth-js';
import { sessionStorageKey } from '../session/storage-keys.ts';

export type Auth = InstanceType<typeof AuthClient>;
type Settings = { apiUrl: string; publishableKey: string; authFetch: typeof fetch };

/** The client of the session that this browser stores. A page has one (`shareAuth` of supabase.ts). */
export const createStoredAuth = (settings: Settings): Auth =>
  createAuth(settings, sessionStorageKey(settings.apiUrl), true);

let memoryClients = 0;

/**
 * A client that keeps its session in memory only, for a session from an auth link or a code until the user has seen
 * whose account it opens.
 */
export const createMemoryAuth = (settings: Settings): Auth => createAuth(settings, `memory-${++memoryClients}`, false);

const createAuth = ({ apiUrl, publishableKey, authFetch }: Settings, storageKey: string, isStored: boolean): Auth =>
  new AuthClient({
    url: `${apiUrl}/auth/v1`,
    headers: { apikey: publishableKey },
    storageKey,
    // Threat: opening a crafted URL would sign the user in to another account. The app signs in by a mailed link only after a click.
    detectSessionInUrl: false,
    autoRefreshToken: isStored,
    persistSession: isStored,
    ...(isStored && storageOf(storageKey)),
    experimental: { recoveryCodes: true },
    fetch: authFetch,
  });

/**
 * Names localStorage if it holds a session. In a browser that can no longer write, auth-js would use memory alone
 * otherwise: a sign-out would leave the stored session.
 */
function storageOf(storageKey: string): { storage: Storage } | null {
  try {
    return localStorage.getItem(storageKey) === null ? null : { storage: localStorage };
  } catch {
    return null;
  }
}
