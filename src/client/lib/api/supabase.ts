/** The connection to the account service and the functions. Log data come through `data-client.ts`, loaded later. */
import { AuthClient, isAuthRetryableFetchError } from '@supabase/auth-js';
import { createContext, use } from 'react';
import type { ClientConfig } from '#domain/client-config.ts';
import { sessionStorageKey } from '../session/storage-keys.ts';

/** A token refused twice within this time is not made good by refreshing it again. */
const RENEWAL_PAUSE_MS = 30_000;

type Fetch = typeof fetch;
export type Auth = InstanceType<typeof AuthClient>;
/** What a function answered, and with which HTTP status. */
export type FunctionAnswer = { success: boolean; status: number; error?: string; [field: string]: unknown };

export type Supabase = {
  auth: Auth;
  /**
   * A client whose session lives in the memory of this page alone: for what a link or a code brings, until the user has
   * seen whose account it is.
   */
  createMemoryAuth: () => Auth;
  apiUrl: string;
  /**
   * Puts the publishable key and the signed-in user's token on a request. A refused token is renewed, or the session ends.
   * Without a session nothing is sent: a guest would be answered with no rows, and that looks like an empty journal.
   */
  withSession: (base: Fetch) => Fetch;
  /** After an answer that says the session is gone: renews it, or ends it here as well, and the page asks to sign in. */
  renewOrEndSession: () => Promise<void>;
  /**
   * Calls one of the server's functions. Resolves with its answer, whatever the status: a refusal is
   * `{ success: false, error }`. Rejects only when no readable answer came.
   */
  callFunction: (name: string, body: object, signal?: AbortSignal) => Promise<FunctionAnswer>;
};

export function createSupabase(config: ClientConfig): Supabase {
  const apiUrl = config.apiUrl || location.origin;
  const createAuth = (storageKey: string, isStored: boolean): Auth =>
    new AuthClient({
      url: `${apiUrl}/auth/v1`,
      headers: { apikey: config.publishableKey },
      storageKey,
      // Links carry their tokens to screens that ask for a click first; nothing in an address signs anybody in by itself.
      detectSessionInUrl: false,
      autoRefreshToken: isStored,
      persistSession: isStored,
    });
  const auth = createAuth(sessionStorageKey(apiUrl), true);
  let memoryClients = 0;
  const createMemoryAuth = (): Auth => createAuth(`memory-${++memoryClients}`, false);

  let renewedAt = -Infinity;
  const withSession: Supabase['withSession'] = (base) => async (input, init) => {
    const { data, error } = await auth.getSession();
    if (!data.session && !isAuthRetryableFetchError(error)) {
      void renewOrEndSession(auth);
      // The words of docs/specification/messages.md 4; as a code they would cost the journal the whole catalogue.
      return Response.json({ message: 'User not authenticated' }, { status: 401 });
    }
    const headers = new Headers(init?.headers);
    headers.set('apikey', config.publishableKey);
    if (data.session) headers.set('authorization', `Bearer ${data.session.access_token}`);
    const response = await base(input, { ...init, headers });
    if (response.status === 401 && Date.now() - renewedAt > RENEWAL_PAUSE_MS) {
      renewedAt = Date.now();
      void renewOrEndSession(auth);
    }
    return response;
  };

  const callFunction: Supabase['callFunction'] = async (name, body, signal) => {
    const response = await withSession(fetch)(`${apiUrl}/functions/v1/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    return { ...((await response.json()) as FunctionAnswer), status: response.status };
  };

  return {
    auth,
    createMemoryAuth,
    apiUrl,
    withSession,
    renewOrEndSession: () => renewOrEndSession(auth),
    callFunction,
  };
}

/**
 * After a refused token: either this brings a new one, and the requests that wait go out, or it ends the session here as
 * well, and the page asks to sign in. auth-js keeps a session whose token has not run out by the clock, whatever servers say.
 */
async function renewOrEndSession(auth: Auth): Promise<void> {
  const { error } = await auth.refreshSession();
  if (error && !isAuthRetryableFetchError(error)) await auth.signOut({ scope: 'local' });
}

export const SupabaseContext = createContext<Supabase | null>(null);

export function useSupabase(): Supabase {
  const supabase = use(SupabaseContext);
  if (!supabase) throw new Error('useSupabase needs a SupabaseContext above it');
  return supabase;
}

export const ClientConfigContext = createContext<ClientConfig | null>(null);

export function useClientConfig(): ClientConfig {
  const config = use(ClientConfigContext);
  if (!config) throw new Error('useClientConfig needs a ClientConfigContext above it');
  return config;
}
