/** The connection to the account service and the functions. Log data come through `data-client.ts`, loaded later. */
import { AuthClient } from '@supabase/auth-js';
import { createContext, use } from 'react';
import type { ClientConfig } from '#domain/client-config.ts';
import { sessionStorageKey } from './storage-keys.ts';

type Fetch = typeof fetch;
export type FunctionAnswer = { success: boolean; error?: string; [field: string]: unknown };

export type Supabase = {
  auth: InstanceType<typeof AuthClient>;
  apiUrl: string;
  /** Puts the publishable key and the signed-in user's token on a request. */
  withSession: (base: Fetch) => Fetch;
  /**
   * Calls one of the server's functions. Resolves with its answer, whatever the status: a refusal is
   * `{ success: false, error }`. Rejects only when no readable answer came.
   */
  callFunction: (name: string, body: object) => Promise<FunctionAnswer>;
};

export function createSupabase(config: ClientConfig): Supabase {
  const apiUrl = config.apiUrl || location.origin;
  const auth = new AuthClient({
    url: `${apiUrl}/auth/v1`,
    headers: { apikey: config.publishableKey },
    storageKey: sessionStorageKey(apiUrl),
    // Links carry their tokens to screens that ask for a click first; nothing in an address signs anybody in by itself.
    detectSessionInUrl: false,
    autoRefreshToken: true,
    persistSession: true,
  });

  const withSession: Supabase['withSession'] = (base) => async (input, init) => {
    const { data } = await auth.getSession();
    const headers = new Headers(init?.headers);
    headers.set('apikey', config.publishableKey);
    if (data.session) headers.set('authorization', `Bearer ${data.session.access_token}`);
    return base(input, { ...init, headers });
  };

  const callFunction: Supabase['callFunction'] = async (name, body) => {
    const response = await withSession(fetch)(`${apiUrl}/functions/v1/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as FunctionAnswer;
  };

  return { auth, apiUrl, withSession, callFunction };
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
