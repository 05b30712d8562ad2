/** Requests to /auth/v1 that the auth client has no method or no parameter for. */
import { useMemo } from 'react';
import type { ProviderError } from '#domain/messages.ts';
import { useSupabase } from './supabase.ts';

export type AuthResult<Data> = { data: Data; error: null } | { data: null; error: ProviderError };

type AuthRequest = <Data>(method: string, path: string, body?: object) => Promise<AuthResult<Data>>;

/** The returned function resolves for any response, and rejects without a response, like `fetch`. */
export function useAuthRequest(): AuthRequest {
  const { apiUrl, withSession } = useSupabase();
  return useMemo(() => {
    const send = withSession(fetch);
    return async <Data>(method: string, path: string, body?: object): Promise<AuthResult<Data>> => {
      const response = await send(`${apiUrl}/auth/v1${path}`, {
        method,
        // Requests the API version whose errors have a `code` (docs/specification/wire.md 3).
        headers: { 'content-type': 'application/json', 'x-supabase-api-version': '2024-01-01' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const json: unknown = await response.json().catch(() => ({}));
      if (response.ok) return { data: json as Data, error: null };
      const { code, message = '' } = json as { code?: string; message?: string };
      return { data: null, error: { code, message, status: response.status } };
    };
  }, [apiUrl, withSession]);
}
