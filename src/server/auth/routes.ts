/**
 * The routes of the auth wire under /auth/v1, compatible with `@supabase/auth-js`. There is a folder for each flow, upon
 * `sessions/`, `accounts/`, `http/` (requests and answers) and `keys/`.
 */
import { Hono } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { limitBody } from '#server/http/limit-body.ts';
import { ADMIN_ENDPOINTS } from './admin/routes.ts';
import type { AuthRoutesDeps, AuthDeps, Route } from './http/auth-deps.ts';
import { followLink, showLink } from './codes/verify-link.ts';
import { health, jwks, settings } from './http/service-info.ts';
import { lazyEndpoint } from './http/lazy-endpoint.ts';
import { logout } from './sessions/logout.ts';
import { magiclink, otp } from './codes/otp.ts';
import { OWN_ACCOUNT_ENDPOINTS } from './own-account/endpoints.ts';
import { FACTOR_ROUTES } from './factors/factor-routes.ts';
import { PASSKEY_ROUTES } from './factors/passkey-routes.ts';
import { createRateLimits } from './http/rate-limits.ts';
import { reauthenticate } from './codes/reauthenticate.ts';
import { recover } from './codes/recover.ts';
import { resend } from './codes/resend.ts';
import { signup } from './password/sign-up.ts';
import { token } from './token.ts';
import { changeUser, showUser } from './own-account/user.ts';
import { verify } from './codes/verify.ts';
import { authErrorResponse } from './http/error-response.ts';
import { AuthError } from './http/errors.ts';

const MAX_BODY_BYTES = 1_048_576;

export const ENDPOINTS: readonly Route[] = [
  ['POST', '/signup', signup],
  ['POST', '/token', token],
  ['POST', '/logout', logout],
  ['GET', '/user', showUser],
  ['PUT', '/user', changeUser],
  ['POST', '/otp', otp],
  ['POST', '/magiclink', magiclink],
  ['POST', '/recover', recover],
  ['POST', '/resend', resend],
  ['GET', '/verify', showLink],
  ['POST', '/verify/continue', followLink],
  ['POST', '/verify', verify],
  ['GET', '/reauthenticate', reauthenticate],
  ['GET', '/web3/nonce', lazyEndpoint(async () => (await import('./wallets/sign-in.ts')).showNonce)],
  ['GET', '/authorize', lazyEndpoint(async () => (await import('./providers/start-flow.ts')).authorize)],
  ['GET', '/callback', lazyEndpoint(async () => (await import('./providers/callback.ts')).callback)],
  ['POST', '/callback', lazyEndpoint(async () => (await import('./providers/callback.ts')).callback)],
  [
    'GET',
    '/user/identities/authorize',
    lazyEndpoint(async () => (await import('./providers/identities.ts')).authorizeIdentity),
  ],
  [
    'DELETE',
    '/user/identities/:id',
    lazyEndpoint(async () => (await import('./providers/identities.ts')).deleteIdentity),
  ],
  ['POST', '/sso', lazyEndpoint(async () => (await import('./saml/sso.ts')).startSso)],
  ['GET', '/sso/saml/metadata', lazyEndpoint(async () => (await import('./saml/service-provider.ts')).showMetadata)],
  ['POST', '/sso/saml/acs', lazyEndpoint(async () => (await import('./saml/acs.ts')).acceptAssertion)],
  ['GET', '/sso/saml/continue', lazyEndpoint(async () => (await import('./saml/acs.ts')).continueSso)],
  ...FACTOR_ROUTES,
  ...PASSKEY_ROUTES,
  ['GET', '/settings', settings],
  ['GET', '/health', health],
  ['GET', '/.well-known/jwks.json', jwks],
  ...OWN_ACCOUNT_ENDPOINTS,
  ...ADMIN_ENDPOINTS,
];

const patterns = new Map(
  ENDPOINTS.map(([, path]) => [
    path,
    new RegExp(`^/auth/v1${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
  ]),
);

/** The methods that an address is called with. Hono answers HEAD as GET, without the body. */
function allowedMethods(address: string): string[] {
  const found = ENDPOINTS.filter(([, path]) => patterns.get(path)!.test(address)).map(([method]) => method);
  return [...new Set<string>([...found, ...(found.includes('GET') ? ['HEAD'] : [])])].toSorted();
}

const rejectBody = (): never => {
  throw new AuthError('body_too_large');
};

export function createAuthDeps(routesDeps: AuthRoutesDeps): AuthDeps {
  const { signingKeys } = routesDeps;
  return {
    ...routesDeps,
    limits: createRateLimits(routesDeps),
    secrets: {
      refreshTokens: signingKeys.deriveSecret('refresh-tokens'),
      oneTimeCodes: signingKeys.deriveSecret('one-time-codes'),
      devices: signingKeys.deriveSecret('known-devices'),
      unknownAccounts: signingKeys.deriveSecret('unknown-accounts'),
      factors: signingKeys.deriveSecret('factors'),
      recoveryCodes: signingKeys.deriveSecret('recovery-codes'),
      providerTokens: signingKeys.deriveSecret('provider-tokens'),
    },
  };
}

export function authRoutes(deps: AuthDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use((context, next) => {
    // No cache may store tokens or accounts; an endpoint may set another value. Set before the response exists:
    // changing a finished response would make the adapter build a slow web Response.
    context.header('Cache-Control', 'no-store');
    return next();
  });
  routes.use(limitBody(MAX_BODY_BYTES, { reject: rejectBody }));
  for (const [method, path, endpoint] of ENDPOINTS) {
    routes.on(method, path, async (context) => endpoint(context, deps));
  }
  routes.all('*', (context) => {
    const allowed = allowedMethods(context.req.path);
    if (allowed.length === 0) throw new AuthError('no_such_endpoint');
    context.header('Allow', allowed.join(', '));
    throw new AuthError(405, 'method_not_allowed', 'This address is not called with this method');
  });
  routes.onError((error, context) => authErrorResponse(context, error, deps));
  return routes;
}
