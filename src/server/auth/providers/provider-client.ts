/** The common interface of all providers, whichever protocol they speak (docs/specification/api.md 27). */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import type { ExternalIdentity } from './external-identity.ts';

/** The provider's own tokens, named as the API returns them. */
type ProviderTokens = { provider_token?: string; provider_refresh_token?: string };
type ProviderAccount = { identity: ExternalIdentity; tokens: ProviderTokens };

/**
 * Secrets of one flow, which only this server knows. A stolen code is useless without the PKCE verifier, and an ID
 * token of another sign-in lacks the nonce.
 */
export type FlowSecrets = { verifier: string; nonce: string };

type SignInRequest = FlowSecrets & {
  state: string;
  redirectUri: string;
  /** Scopes beyond those that the sign-in needs. */
  scopes: readonly string[];
  /** Further parameters for the provider, without those that the sign-in sets. */
  parameters: readonly (readonly [name: string, value: string])[];
};

/** @property url the address that the provider sent the browser to, with its query */
type ProviderAnswer = FlowSecrets & { state: string; url: URL };

/** Both methods throw a ProviderError or a ProviderRefusal. */
export interface ProviderClient {
  buildSignInUrl(request: SignInRequest): Promise<URL>;
  /** Exchanges the code and reads the account. Works once per code. */
  readAccount(answer: ProviderAnswer): Promise<ProviderAccount>;
}

/** The longest time to wait for one answer of a provider. */
export const PROVIDER_TIMEOUT_SECONDS = 10;

/** The provider answered the browser with an error, for example because the user declined. */
export class ProviderRefusal extends Error {
  /** An error code of RFC 6749 4.1.2.1. */
  readonly error: string;

  constructor(error: string, description: string) {
    super(description);
    this.name = 'ProviderRefusal';
    this.error = error;
  }
}

export class ProviderError extends Error {
  /**
   * `unavailable`: a later try may work. `rejected`: the answer cannot be trusted, or the provider rejects the code.
   */
  readonly kind: 'unavailable' | 'rejected';

  constructor(kind: ProviderError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderError';
    this.kind = kind;
  }
}

/**
 * RFC 6749 4.1.2.1. Threat: an attacker's link leads to the callback with an error of their choice, whose text then
 * stands in the address bar of our page. So the code is one short word, and the description is cut.
 */
const ERROR_CODE = /^[\w.-]{1,64}$/;
const MAX_DESCRIPTION_LENGTH = 200;

const readErrorCode = (code: string): string => (ERROR_CODE.test(code) ? code : 'server_error');

/** Runs a call of openid-client. Throws a ProviderError or a ProviderRefusal. */
export async function callProvider<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toProviderError(error);
  }
}

function toProviderError(error: unknown): Error {
  if (error instanceof ProviderError || error instanceof ProviderRefusal) return error;
  if (error instanceof AuthorizationResponseError) {
    const description = (error.error_description ?? '')
      .replaceAll(/[^\x20-\x7e]/g, '')
      .slice(0, MAX_DESCRIPTION_LENGTH);
    return new ProviderRefusal(readErrorCode(error.error), description);
  }
  if (error instanceof ResponseBodyError) {
    const code = readErrorCode(error.error);
    const kind = isTransientStatus(error.status) ? 'unavailable' : 'rejected';
    return new ProviderError(kind, `the provider answered ${code}`, error);
  }
  if (error instanceof ClientError) {
    const { code, cause } = error;
    const isTransient = code === 'OAUTH_TIMEOUT' || isTransientStatus(statusOf(cause));
    return new ProviderError(isTransient ? 'unavailable' : 'rejected', 'unusable response', error);
  }
  // `fetch` rejects with a TypeError when no connection can be made.
  return new ProviderError('unavailable', 'no response', error);
}

/**
 * 0 if the cause is not a response. No `instanceof`: the HTTP server replaces the global `Response`, so the responses of
 * `fetch` are not instances of it.
 */
const statusOf = (cause: unknown): number =>
  typeof cause === 'object' && cause !== null && 'status' in cause && typeof cause.status === 'number'
    ? cause.status
    : 0;

export const isTransientStatus = (status: number): boolean => status >= 500 || status === 429;
