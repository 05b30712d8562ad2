/**
 * Signs in with an OpenID Connect provider (docs/specification/api.md 27). openid-client checks state, issuer,
 * audience, nonce, lifetime and signature.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ClientAuth,
  type Configuration,
} from 'openid-client';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import {
  identityFromClaims,
  callProvider,
  PROVIDER_TIMEOUT_SECONDS,
  ProviderError,
  type ProviderClient,
} from './provider-client.ts';

const DISCOVERY_LIFETIME_MS = 3_600_000;
const SCOPES = ['openid', 'email', 'profile'];

type CachedDiscovery = { configuration: Promise<Configuration>; expiresAt: number };
const discovered = new WeakMap<OAuthProvider, CachedDiscovery>();

/** The provider's metadata, such as its endpoints: cached for an hour, single-flight. A failure is not cached. */
export function discoverProvider(provider: OAuthProvider): Promise<Configuration> {
  const cached = discovered.get(provider);
  if (cached && cached.expiresAt > performance.now()) return cached.configuration;
  const configuration = callProvider(() => runDiscovery(provider));
  discovered.set(provider, { configuration, expiresAt: performance.now() + DISCOVERY_LIFETIME_MS });
  configuration.catch(() => discovered.delete(provider));
  return configuration;
}

async function runDiscovery({ issuer, clientId, clientSecret }: OAuthProvider): Promise<Configuration> {
  const execute = [enableNonRepudiationChecks];
  // Only a provider on this machine has an http address (src/server/config).
  if (issuer.startsWith('http:')) execute.push(allowInsecureRequests);
  const url = new URL(`${issuer}/.well-known/openid-configuration`);
  const configuration = await discovery(url, clientId, undefined, authenticateClient(clientSecret.reveal()), {
    timeout: PROVIDER_TIMEOUT_SECONDS,
    execute,
  });
  // openid-client does not compare the issuer when it gets the full address of the metadata, so this line does. Some
  // issuers end with a slash, which the settings drop.
  if (configuration.serverMetadata().issuer.replace(/\/$/, '') !== issuer)
    throw new ProviderError('rejected', 'the provider names another issuer');
  return configuration;
}

/**
 * Sends the client secret in the body, unless the provider accepts it only in the `Authorization` header: providers
 * disagree on the header's encoding.
 */
const authenticateClient =
  (secret: string): ClientAuth =>
  (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const usesHeader = methods.includes('client_secret_basic') && !methods.includes('client_secret_post');
    const authenticate = usesHeader ? ClientSecretBasic(secret) : ClientSecretPost(secret);
    return authenticate(server, client, body, headers);
  };

export function createOidcClient(provider: OAuthProvider): ProviderClient {
  return {
    async buildSignInUrl({ state, nonce, verifier, redirectUri, scopes, parameters }) {
      const configuration = await discoverProvider(provider);
      return buildAuthorizationUrl(configuration, {
        ...Object.fromEntries(parameters),
        redirect_uri: redirectUri,
        scope: [...new Set([...SCOPES, ...scopes])].join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    async readAccount({ url, state, nonce, verifier }) {
      const configuration = await discoverProvider(provider);
      return callProvider(async () => {
        const tokens = await authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        checkAuthorizedParty(provider, claims['azp']);
        const { issuer, userinfo_endpoint: hasProfile } = configuration.serverMetadata();
        const readsProfile = claims['email'] === undefined && hasProfile !== undefined;
        const profile = readsProfile ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
        return {
          identity: identityFromClaims(provider.name, issuer, { ...claims, ...profile }),
          tokens: {
            provider_token: tokens.access_token,
            ...(tokens.refresh_token !== undefined && { provider_refresh_token: tokens.refresh_token }),
          },
        };
      });
    },
  };
}

/**
 * Throws unless the `azp` claim, if present, names our client. Threat: an ID token that the provider issued to another
 * app of the same owner, which openid-client accepts.
 */
export function checkAuthorizedParty({ clientId }: OAuthProvider, authorizedParty: unknown): void {
  if (authorizedParty !== undefined && authorizedParty !== clientId)
    throw new ProviderError('rejected', 'the token was issued to another client');
}
