/**
 * The client of /functions/v1, and the session of all requests. `data-client.ts` has the client of /rest/v1, and
 * `auth-client.ts` that of /auth/v1: auth-js loads with the screens that sign in, and on others after the screen. Until
 * then the stored session suffices, unless its token must be renewed.
 */
import type { AuthChangeEvent, Session } from '@supabase/auth-js';
import { createContext, use } from 'react';
import type { ClientConfig } from '#domain/client-config.ts';
import type { Auth } from './auth-client.ts';
import { needsSecondStep, readClaims, readStoredSession } from '../session/stored-session.ts';

/** At most one renewal after a 401 within this time: renewing a token that the server rejects again would loop. */
const MIN_RENEWAL_INTERVAL_MS = 30_000;

type Fetch = typeof fetch;
export type { Auth };
export type FunctionAnswer = {
  success: boolean;
  status: number;
  retryAfterSeconds?: number | null;
  error?: string;
  [field: string]: unknown;
};

export type ApiRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: object | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  cache?: RequestCache;
  /** Sends the request in place of `fetch`. */
  base?: Fetch;
};

export type Supabase = {
  /** Loads auth-js. Screens that come with it call `useAuth` instead. */
  loadAuth: () => Promise<Auth>;
  /** Returns the page's only auth client, which the first call creates. */
  shareAuth: (create: (settings: Supabase) => Auth) => Auth;
  /**
   * Listens to auth events once auth-js has loaded. Returns a function that stops. Deadlock: auth-js waits for its
   * listeners before it ends a renewal, so a listener must not await one.
   */
  onAuthStateChange: (listener: (event: AuthChangeEvent, session: Session | null) => void) => () => void;
  /** Sends the requests of the auth client. */
  authFetch: Fetch;
  apiUrl: string;
  publishableKey: string;
  /**
   * Adds the publishable key and the signed-in user's token to a request. On a 401 it renews or ends the session, and
   * repeats the request with the new token.
   */
  withSession: (base: Fetch) => Fetch;
  /**
   * Renews the session after the server has rejected it. If the server refuses to renew it, ends it locally; the page
   * then asks to sign in.
   */
  renewOrEndSession: () => Promise<void>;
  /** Sends a request with the session to a path of the API. Resolves for any response, and rejects without one. */
  ask: (path: string, request?: ApiRequest) => Promise<Response>;
  /** The same without a session, for a guest. */
  askAsGuest: (path: string) => Promise<Response>;
  /**
   * Calls a server function. Resolves with the response body for any status; an error is `{ success: false, error }`.
   * Rejects without a response, and for one that is not JSON unless its status is 413.
   */
  callFunction: (name: string, body: object, signal?: AbortSignal) => Promise<FunctionAnswer>;
};

export function createSupabase(config: ClientConfig, authFetch: Fetch): Supabase {
  const apiUrl = config.apiUrl || location.origin;
  let auth: Auth | undefined;
  let resolveAuth: (auth: Auth) => void;
  const createdAuth = new Promise<Auth>((resolve) => (resolveAuth = resolve));
  const shareAuth: Supabase['shareAuth'] = (create) => {
    if (!auth) resolveAuth((auth = create(supabase)));
    return auth;
  };
  const loadAuth = async (): Promise<Auth> => shareAuth((await import('./auth-client.ts')).createStoredAuth);
  const onAuthStateChange: Supabase['onAuthStateChange'] = (listener) => {
    let isStopped = false;
    let stop = (): void => void (isStopped = true);
    void createdAuth.then((client) => {
      if (!isStopped) stop = client.onAuthStateChange(listener).data.subscription.unsubscribe;
    });
    return () => stop();
  };

  /** A session that is not fresh is read by auth-js, which renews it first. */
  const readSession = async (): Promise<{ session: Session | null; error: Error | null }> => {
    const session = readStoredSession(apiUrl, true);
    if (session) return { session, error: null };
    const { data, error } = await (await loadAuth()).getSession();
    return { session: data.session, error };
  };
  /** auth-js keeps a session until its token expires by the clock, even after the server has rejected the token. */
  const renewOrEndSession = async (): Promise<void> => {
    const client = await loadAuth();
    const { error } = await client.refreshSession();
    if (!error || isNetworkError(error)) return;
    // After AuthRefreshDiscardedError this browser has a newer session, stored by another tab: a sign-out would end it.
    if (error.name !== 'AuthRefreshDiscardedError') await client.signOut({ scope: 'local' });
  };

  let renewedAt = -Infinity;
  let renewal: Promise<void> | undefined;
  /**
   * Renews the session, or waits for the renewal that another request began. Returns the new token; undefined if the
   * session still has the rejected one, or has ended.
   */
  const replaceToken = async (rejected: string): Promise<string | undefined> => {
    if (Date.now() - renewedAt > MIN_RENEWAL_INTERVAL_MS) {
      renewedAt = Date.now();
      renewal = renewOrEndSession();
    }
    await renewal;
    const token = (await readSession()).session?.access_token;
    return token === rejected ? undefined : token;
  };
  const withSession: Supabase['withSession'] = (base) => async (input, init) => {
    const { session, error } = await readSession();
    if (!session || needsSecondStep(session)) {
      if (isNetworkError(error)) throw new TypeError('the session could not be renewed');
      // A session without its second step is left alone: a renewal would not make the server accept it.
      if (!session) void renewOrEndSession();
      // Not from the message catalogue, which would then be in the journal's chunk.
      return Response.json({ message: 'User not authenticated' }, { status: 401 });
    }
    const headers = new Headers(init?.headers);
    headers.set('apikey', config.publishableKey);
    const send = (token: string): Promise<Response> => {
      headers.set('authorization', `Bearer ${token}`);
      return base(input, { ...init, headers });
    };
    const { access_token: token } = session;
    const response = await send(token);
    const isRejected = !noteProxyAnswer(response) && response.status === 401;
    const newToken = isRejected ? await replaceToken(token) : undefined;
    return newToken === undefined ? response : send(newToken);
  };

  const send = (withKey: Fetch, path: string, { method = 'GET', body, headers, signal, cache }: ApiRequest) =>
    withKey(`${apiUrl}${path}`, {
      method,
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(cache && { cache }),
    });
  const ask: Supabase['ask'] = (path, request = {}) => send(withSession(request.base ?? fetch), path, request);
  const askAsGuest: Supabase['askAsGuest'] = (path) =>
    send(fetch, path, { headers: { apikey: config.publishableKey } });

  const callFunction: Supabase['callFunction'] = async (name, body, signal) => {
    const response = await ask(`/functions/v1/${name}`, { method: 'POST', body, signal });
    const retryAfterSeconds = Number(response.headers.get('Retry-After')) || null;
    // A proxy may refuse a large request with a page of HTML.
    const read: unknown = response.status === 413 ? await response.json().catch(() => null) : await response.json();
    const answer: FunctionAnswer = {
      success: false,
      ...(read as object | null),
      status: response.status,
      retryAfterSeconds,
    };
    // The JSON of a proxy may have an object here, which no screen can show.
    if (typeof answer.error !== 'string') delete answer.error;
    return answer;
  };

  const supabase: Supabase = {
    loadAuth,
    shareAuth,
    onAuthStateChange,
    authFetch,
    apiUrl,
    publishableKey: config.publishableKey,
    withSession,
    renewOrEndSession,
    ask,
    askAsGuest,
    callFunction,
  };
  return supabase;
}

/** The server could not be reached, or is busy. */
const isNetworkError = (error: Error | null): boolean => error?.name === 'AuthRetryableFetchError';

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

// Sends requests only with the token of a given user. Threat: another tab has signed in a different user since, whose
// token would store the text of this page in that user's account.

/**
 * Answers a request without this user's token with 401 instead of sending it; offline, rejects like `fetch`.
 * `withSession` treats the 401 like one of the server, and renews or ends the session.
 */
export function fetchAsUser(userId: string, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const token = new Headers(init?.headers).get('authorization') ?? '';
    if (readClaims(token)?.sub === userId) return send(input, init);
    // Offline, an expired token cannot be renewed: report a network error instead of asking for the password.
    if (!navigator.onLine) throw new TypeError('offline');
    return new Response('{}', { status: 401 });
  };
}

// Recognises answers of a proxy in front of the server that asks to sign in or refuses the user. Its page is not an
// answer of the API: it must not end the session, and only a page that loads anew shows what the proxy wants.

/** The error statuses with which a proxy shows its sign-in. Its pages of other errors say that the server is gone. */
const SIGN_IN_STATUSES: ReadonlySet<number> = new Set([401, 403, 511]);

export function isProxyAnswer({ type, ok, status, headers }: Response): boolean {
  // A redirect that was not followed.
  if (type === 'opaqueredirect') return true;
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  if (isPage) return ok || SIGN_IN_STATUSES.has(status);
  return status === 401 && /^(basic|digest|negotiate|ntlm)\b/i.test(headers.get('www-authenticate') ?? '');
}

const listeners = new Set<() => void>();

/** Calls `listener` for every answer of a proxy. Returns a function that ends that. */
export function subscribeToProxyAnswers(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Tells the listeners of an answer of a proxy, and returns whether it is one. */
export function noteProxyAnswer(response: Response): boolean {
  const isProxy = isProxyAnswer(response);
  if (isProxy) for (const listener of listeners) listener();
  return isProxy;
}
