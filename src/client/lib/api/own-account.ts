/**
 * Requests about the user's own account for which auth-js has no method or no parameter: sessions, change of the
 * address, deletion and archive (docs/specification/api.md 34), and with `useAuthRequest` factors, passkeys, identities
 * and access tokens.
 */
import { useMemo } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { isSessionGone, type ProviderError } from '#domain/messages.ts';
import { isProxyAnswer, useSupabase, type ApiRequest, type Supabase } from './supabase.ts';
import { useUser } from '../session/session.ts';

export type OwnSession = {
  id: string;
  /** In words, such as "Chrome on Windows". */
  device: string;
  created_at: string;
  last_seen_at: string;
  current: boolean;
};

/** The user's next step before a deletion or an archive. */
type RequiredProof = 'none' | 'password' | 'code' | 'sign_in' | 'second_step';
/** A pending change of the mail address. `unconfirmed`: those of the two addresses that have not confirmed it yet. */
export type AddressChange = { new_email: string; unconfirmed: string[] };
/** Facts that the `User` of auth-js leaves out. */
type AccountFacts = { required_proof: RequiredProof; has_password: boolean; address_change: AddressChange | null };
export type Proof = { password?: string; nonce?: string };

type RequestedDeletion = { deletion_due_at: string; undo_token: string };

/** The server refused the request. Any other failure rejects like `fetch`. */
export class RefusedError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** Requests the API version whose errors have a `code` (docs/specification/api.md 3). */
const WITH_CODES = { 'x-supabase-api-version': '2024-01-01' };

/** Rejects for a proxy's page, which may have the status 200: it must not count as a deletion or as an archive. */
async function ask(supabase: Supabase, path: string, request: ApiRequest): Promise<Response> {
  const response = await supabase.ask(path, { ...request, headers: WITH_CODES });
  if (isProxyAnswer(response)) throw new TypeError('a proxy answered');
  return response;
}

async function readError(response: Response): Promise<ProviderError> {
  const { code, message = '' } = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
  return { code, message, status: response.status };
}

type Method = NonNullable<ApiRequest['method']>;
type OwnAccount = ReturnType<typeof createOwnAccount>;

function createOwnAccount(supabase: Supabase) {
  async function request(method: Method, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const response = await ask(supabase, path, { method, body, signal });
    if (response.ok) return response;
    const error = await readError(response);
    if (isSessionGone(error)) await supabase.renewOrEndSession();
    throw new RefusedError(error.code ?? '');
  }

  return {
    async listSessions(signal: AbortSignal): Promise<OwnSession[]> {
      const response = await request('GET', '/auth/v1/sessions', undefined, signal);
      return ((await response.json()) as { sessions: OwnSession[] }).sessions;
    },
    /** Succeeds also if the session has already ended. */
    async endSession(id: string): Promise<void> {
      await request('DELETE', `/auth/v1/sessions/${id}`).catch((error: unknown) => {
        if (!(error instanceof RefusedError && error.code === 'not_found')) throw error;
      });
    },
    async readFacts(signal: AbortSignal): Promise<AccountFacts> {
      return (await (await request('GET', '/auth/v1/account', undefined, signal)).json()) as AccountFacts;
    },
    async cancelAddressChange(): Promise<void> {
      await request('DELETE', '/auth/v1/account/address-change');
    },
    async requestDeletion(proof: Proof): Promise<RequestedDeletion> {
      return (await (await request('DELETE', '/auth/v1/account', proof)).json()) as RequestedDeletion;
    },
    /** All logs of the user in one file, also those that the plan locks. */
    async downloadArchive(proof: Proof, signal: AbortSignal): Promise<Blob> {
      return (await request('POST', '/functions/v1/archive', proof, signal)).blob();
    },
  };
}

export function useOwnAccount(): OwnAccount {
  const supabase = useSupabase();
  return useMemo(() => createOwnAccount(supabase), [supabase]);
}

/** Facts about the account that the `User` of auth-js leaves out. */
export function useAccountFacts() {
  const { id, updated_at: changedAt } = useUser();
  const account = useOwnAccount();
  return useQuery({
    // A change of the address or the password changes the user's `updated_at`.
    queryKey: ['account-facts', id, changedAt],
    queryFn: ({ signal }) => account.readFacts(signal),
    placeholderData: keepPreviousData,
    // Always stale: a mailed link that was opened in another tab may have confirmed an address.
    staleTime: 0,
  });
}

export type AuthResult<Data> = { data: Data; error: null } | { data: null; error: ProviderError };

type AuthRequest = <Data>(method: Method, path: string, body?: object) => Promise<AuthResult<Data>>;

/** For `/auth/v1`. The returned function resolves for any whole response of the API, and rejects without one. */
export function useAuthRequest(): AuthRequest {
  const supabase = useSupabase();
  return useMemo(() => {
    return async <Data>(method: Method, path: string, body?: object): Promise<AuthResult<Data>> => {
      const response = await ask(supabase, `/auth/v1${path}`, { method, body });
      if (!response.ok) return { data: null, error: await readError(response) };
      return { data: JSON.parse((await response.text()) || '{}') as Data, error: null };
    };
  }, [supabase]);
}
