/** Starts a flow at a provider, for a sign-in (GET /authorize) or for a link (docs/specification/api.md 27 and 28). */
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import type { AppEnv } from '#server/http/app-env.ts';
import { findByLink } from '../codes/one-time-tokens.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { redirectTarget } from '../http/redirects.ts';
import { KNOWN_PROVIDERS } from '../http/service-info.ts';
import { seal } from '../keys/sealed.ts';
import { createFlow, parseChallenge } from '../sessions/flows.ts';
import { bindBrowser } from './browser-binding.ts';
import { createGitHubClient } from './github-client.ts';
import { createOidcClient } from './oidc-client.ts';
import { ProviderError, type FlowSecrets, type ProviderClient } from './provider-client.ts';
import { redirectWithError } from './return-to-client.ts';

/**
 * A faulty request gets an error as JSON, as in supabase/auth. An unreachable provider is reported by a redirect to the
 * client, because the browser navigates here and no script reads the response.
 */
export const redirectToProvider: Endpoint = async (context, deps) => {
  try {
    return context.redirect(await startProviderFlow(context, deps, null), 302);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ err: error, provider: context.req.query('provider') }, 'a provider cannot be reached');
    return redirectWithError(context, redirectTarget(context, deps.config), new AuthError('provider_unavailable'));
  }
};

/** Stored encrypted with the flow until the provider answers. */
export type StoredSecrets = FlowSecrets & {
  /** An invitation's mail proved that the reader owns this address. */
  invitedEmail?: string;
  /** The session in which the user links the provider's account. */
  linkingSessionId?: string;
};

/** The redirect URI that the operator registers at every provider. */
export const callbackUrl = ({ config }: Pick<AuthDeps, 'config'>): string => `${config.publicUrl}/auth/v1/callback`;

export function findProvider({ config }: Pick<AuthDeps, 'config'>, name: string): OAuthProvider {
  const provider = config.auth.oauthProviders.find((candidate) => candidate.name === name);
  if (provider) return provider;
  throw KNOWN_PROVIDERS.has(name)
    ? invalidRequest('Unsupported provider: provider is not enabled')
    : invalidRequest(`Unsupported provider: Provider ${name.slice(0, MAX_NAME_LENGTH)} could not be found`);
}

const MAX_NAME_LENGTH = 50;

type Linking = { userId: string; sessionId: string | null };

/** Returns the address of the provider's sign-in page. Throws an AuthError or a ProviderError. */
export async function startProviderFlow(
  context: Context<AppEnv>,
  deps: AuthDeps,
  linking: Linking | null,
): Promise<string> {
  const { clock, config, database, secrets } = deps;
  const query = new URL(context.req.url).searchParams;
  const provider = findProvider(deps, query.get('provider') ?? '');
  const challenge = parseChallenge(query.get('code_challenge') ?? '', query.get('code_challenge_method') ?? '');
  const redirectTo = redirectTarget(context, config);
  const invitedEmail = await findInvitedEmail(deps, query.get('invite_token') ?? '');
  const id = randomUUID();
  const stored: StoredSecrets = {
    verifier: randomPKCECodeVerifier(),
    nonce: randomNonce(),
    ...(invitedEmail !== null && { invitedEmail }),
    ...(linking?.sessionId && { linkingSessionId: linking.sessionId }),
  };
  const url = await connectProvider(provider).buildSignInUrl({
    ...stored,
    state: id,
    redirectUri: callbackUrl(deps),
    scopes: parseScopes(query.get('scopes') ?? ''),
    parameters: forwardedParameters(query),
  });
  const needsCookie = challenge === null || linking !== null;
  await createFlow(database.asService('start a provider flow'), {
    id,
    method: 'oauth',
    provider: provider.name,
    challenge,
    redirectTo,
    providerSecrets: seal(secrets.providerTokens, `flow:${id}`, JSON.stringify(stored)),
    ...(linking !== null && { linkingUserId: linking.userId }),
    ...(needsCookie && { browserHash: bindBrowser(context, deps) }),
    now: clock.now(),
  });
  return url.href;
}

/** Null without an invitation. Throws `otp_expired` for an invalid one. */
async function findInvitedEmail({ database, clock }: AuthDeps, linkToken: string): Promise<string | null> {
  if (linkToken === '') return null;
  const service = database.asService('find an invitation');
  const token = await findByLink(service, { linkToken, purposes: ['invite'], now: clock.now() });
  if (!token) throw new AuthError('link_expired');
  return token.address;
}

/** The characters of one scope in RFC 6749 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const MAX_SCOPES = 30;

/** Scopes are separated by spaces or commas. Malformed scopes, and those after the thirtieth, are dropped. */
export const parseScopes = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .filter((scope) => SCOPE.test(scope))
    .slice(0, MAX_SCOPES);

/**
 * Parameters of the request that are not forwarded to the provider: those of our own API, and those that the sign-in
 * sets. Threat: a caller changes where the provider returns to, what it returns, or for which client it signs in.
 */
const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  'provider',
  'redirect_to',
  'scopes',
  'skip_http_redirect',
  'invite_token',
  'code_challenge',
  'code_challenge_method',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'code',
  'code_verifier',
  'grant_type',
  'request',
  'request_uri',
  'registration',
  'dpop_jkt',
]);
const MAX_FORWARDED = 20;
const MAX_FORWARDED_LENGTH = 500;

/** The parameters that are forwarded to the provider, such as `prompt`, `login_hint` and `access_type`. */
export const forwardedParameters = (query: URLSearchParams): [string, string][] =>
  [...query]
    .filter(
      ([name, value]) =>
        /^[A-Za-z][\w.-]{0,63}$/.test(name) &&
        !RESERVED_PARAMETERS.has(name.toLowerCase()) &&
        value.length <= MAX_FORWARDED_LENGTH,
    )
    .slice(0, MAX_FORWARDED);

export const connectProvider = (provider: OAuthProvider): ProviderClient =>
  provider.kind === 'github' ? createGitHubClient(provider) : createOidcClient(provider);
