/** The common interface of all providers, whichever protocol they speak (docs/specification/api.md 27). */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import type { ExternalIdentity } from './external-identity.ts';
import type { JsonObject } from '#server/database/tables.ts';
import { parseEmail } from '../http/credentials.ts';
import { AuthError } from '../http/errors.ts';

/** The provider's own tokens, named as the API returns them. */
type ProviderTokens = { provider_token?: string; provider_refresh_token?: string };
type ProviderAccount = { identity: ExternalIdentity; tokens: ProviderTokens };

/**
 * Random values of one flow. A stolen code is useless without the PKCE verifier, which only this server knows, and an
 * ID token of another sign-in lacks the nonce.
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

/** Both methods may throw a ProviderError, and `readAccount` a ProviderRefusal. */
export interface ProviderClient {
  buildSignInUrl(request: SignInRequest): Promise<URL>;
  /** Exchanges the code and reads the account. Works once per code. */
  readAccount(answer: ProviderAnswer): Promise<ProviderAccount>;
}

/** The longest time to wait for one answer of a provider. */
export const PROVIDER_TIMEOUT_SECONDS = 10;

/** The provider answered the browser with an error, for example because the user declined. */
export class ProviderRefusal extends Error {
  /** The provider's error code, such as those of RFC 6749 4.1.2.1. */
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
 * 0 if the cause is not a response. No `instanceof`: the HTTP server replaces the global `Response`, so the responses
 * of `fetch` are not instances of it.
 */
const statusOf = (cause: unknown): number =>
  typeof cause === 'object' && cause !== null && 'status' in cause && typeof cause.status === 'number'
    ? cause.status
    : 0;

export const isTransientStatus = (status: number): boolean => status >= 500 || status === 429;

// Reads an identity from the claims of a provider. The operator trusts the provider, but its users choose most of the
// values: only known claims are kept, and only of the expected type and length.

/** OpenID Connect Core 2 limits `sub` to 255 characters. */
const MAX_ID_LENGTH = 255;
const MAX_TEXT_LENGTH = 200;
const MAX_URL_LENGTH = 1_000;

/** Claims of OpenID Connect Core 5.1; other providers' answers are mapped to them. */
export type ProfileClaims = Readonly<Record<string, unknown>>;

/** Throws a ProviderError if the claims name no account. */
export function identityFromClaims(provider: string, issuer: string, claims: ProfileClaims): ExternalIdentity {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_ID_LENGTH || !isStorable(sub)) {
    throw new ProviderError('rejected', 'the account has no usable id');
  }
  const email = readEmail(claims['email']);
  // Some providers send the flag as text.
  const emailVerified = email !== null && (claims['email_verified'] === true || claims['email_verified'] === 'true');
  const name = readText(claims['name']);
  const picture = readUrl(claims['picture']);
  const login = readText(claims['preferred_username']);
  const data: JsonObject = {
    iss: issuer,
    sub,
    provider_id: sub,
    ...(email !== null && { email }),
    email_verified: emailVerified,
    phone_verified: false,
    ...(name !== null && { name, full_name: name }),
    ...(login !== null && { preferred_username: login, user_name: login }),
    ...(picture !== null && { picture, avatar_url: picture }),
  };
  return { provider, providerId: sub, email, emailVerified, data };
}

/** Null for an address that this server does not accept, such as one with letters beyond ASCII before the `@`. */
function readEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  try {
    return parseEmail(value);
  } catch (error) {
    if (error instanceof AuthError) return null;
    throw error;
  }
}

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && isStorable(value)
    ? value.slice(0, MAX_TEXT_LENGTH).toWellFormed()
    : null;

/** Null unless the address is https. Threat: a user sets a picture with a `javascript:` address. */
function readUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !isStorable(value)) return null;
  return URL.parse(value)?.protocol === 'https:' ? value : null;
}

/** PostgreSQL stores neither null characters nor lone surrogates. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
