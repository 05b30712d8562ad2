/** The common interface of all providers, whichever protocol they speak (docs/specification/wire.md 27). */
import type { ExternalIdentity } from './identity-store.ts';

/** The provider's own tokens, named as the wire returns them. */
export type ProviderTokens = { provider_token?: string; provider_refresh_token?: string };
export type ProviderAccount = { identity: ExternalIdentity; tokens: ProviderTokens };

/**
 * Secrets of one flow, which only this server knows. A stolen code is useless without the PKCE verifier, and an ID
 * token of another sign-in lacks the nonce.
 */
export type FlowSecrets = { verifier: string; nonce: string };

export type SignInRequest = FlowSecrets & {
  state: string;
  redirectUri: string;
  /** Scopes beyond those that the sign-in needs. */
  scopes: readonly string[];
  /** Further parameters for the provider, without those that the sign-in sets. */
  parameters: readonly (readonly [name: string, value: string])[];
};

/** @property url the address that the provider sent the browser to, with its query */
export type ProviderAnswer = FlowSecrets & { state: string; url: URL };

/** Both methods throw a ProviderError or a ProviderRefusal. */
export interface ProviderClient {
  buildSignInUrl(request: SignInRequest): Promise<URL>;
  /** Exchanges the code and reads the account. Works once per code. */
  readAccount(answer: ProviderAnswer): Promise<ProviderAccount>;
}

/** The longest time to wait for one answer of a provider. */
export const PROVIDER_TIMEOUT_SECONDS = 10;
