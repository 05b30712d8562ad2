/**
 * Signs in with GitHub: OAuth 2 without ID tokens, and an API for the account and its addresses
 * (docs/specification/api.md 27).
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  customFetch,
  fetchProtectedResource,
  type CustomFetchOptions,
} from 'openid-client';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import { isObject } from '#server/parse-json.ts';
import {
  identityFromClaims,
  callProvider,
  isTransientStatus,
  PROVIDER_TIMEOUT_SECONDS,
  ProviderError,
  type ProviderClient,
} from './provider-client.ts';

const SCOPES = ['user:email'];
const API_HEADERS = { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28' };

export function createGitHubClient(provider: OAuthProvider): ProviderClient {
  const configuration = configure(provider);
  return {
    async buildSignInUrl({ state, verifier, redirectUri, scopes, parameters }) {
      return buildAuthorizationUrl(configuration, {
        ...Object.fromEntries(parameters),
        redirect_uri: redirectUri,
        scope: [...new Set([...SCOPES, ...scopes])].join(' '),
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    readAccount: ({ url, state, verifier }) =>
      callProvider(async () => {
        const checks = { expectedState: state, pkceCodeVerifier: verifier };
        const { access_token: token } = await authorizationCodeGrant(configuration, url, checks);
        const [user, addresses] = await Promise.all([
          readApi(configuration, provider, token, '/user'),
          readApi(configuration, provider, token, '/user/emails'),
        ]);
        const claims = claimsOf(user, addresses);
        return {
          identity: identityFromClaims(provider.name, provider.apiBase!, claims),
          tokens: { provider_token: token },
        };
      }),
  };
}

function configure({ issuer, clientId, clientSecret }: OAuthProvider): Configuration {
  const server = {
    issuer,
    authorization_endpoint: `${issuer}/login/oauth/authorize`,
    token_endpoint: `${issuer}/login/oauth/access_token`,
  };
  const configuration = new Configuration(server, clientId, undefined, ClientSecretPost(clientSecret.reveal()));
  configuration.timeout = PROVIDER_TIMEOUT_SECONDS;
  configuration[customFetch] = fetchWithErrorStatus;
  if (issuer.startsWith('http:')) allowInsecureRequests(configuration);
  return configuration;
}

/** GitHub's token endpoint answers errors with status 200, which becomes 400 here, as openid-client expects. */
async function fetchWithErrorStatus(url: string, options: CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  if (response.status !== 200) return response;
  const text = await response.text();
  const isError = /^\s*\{/.test(text) && isErrorBody(text);
  return new Response(text, { status: isError ? 400 : 200, headers: response.headers });
}

function isErrorBody(text: string): boolean {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return typeof body['error'] === 'string';
  } catch {
    return false;
  }
}

/** Null if the token may not read the resource. */
async function readApi(
  configuration: Configuration,
  { apiBase }: OAuthProvider,
  token: string,
  path: string,
): Promise<unknown> {
  const url = new URL(`${apiBase}${path}`);
  const response = await fetchProtectedResource(configuration, token, url, 'GET', null, new Headers(API_HEADERS));
  if (response.status === 403 || response.status === 404) return null;
  if (!response.ok) {
    const kind = isTransientStatus(response.status) ? 'unavailable' : 'rejected';
    throw new ProviderError(kind, `the API answered ${path} with ${response.status}`);
  }
  return response.json();
}

/** Maps the API's answers to the claims of OpenID Connect. */
function claimsOf(user: unknown, addresses: unknown): Record<string, unknown> {
  if (!isObject(user) || typeof user['id'] !== 'number' || !Number.isSafeInteger(user['id'])) {
    throw new ProviderError('rejected', 'the API named no user');
  }
  // `user.email` is the public address, which may differ from the primary one and says nothing about its verification.
  const primary = Array.isArray(addresses)
    ? addresses.find((entry) => isObject(entry) && entry['primary'] === true)
    : undefined;
  return {
    sub: String(user['id']),
    name: user['name'],
    preferred_username: user['login'],
    picture: user['avatar_url'],
    ...(isObject(primary) && { email: primary['email'], email_verified: primary['verified'] === true }),
  };
}
