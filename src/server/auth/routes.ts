/**
 * The route table of the auth API under /auth/v1, compatible with `@supabase/auth-js`. Each row says who may call,
 * which budget of `http/rate-limits.ts` the request counts towards, whether it needs a captcha and how its body is
 * read. `dispatch.ts` ensures it before the handler runs, or leaves it to the handler (`later…`). Handlers that few
 * requests need load at the first of these. Each flow has a folder; they share `sessions/`, `accounts/`, `http/`
 * (requests and answers) and `keys/`.
 */
import { Hono, type Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { limitBody } from '#server/http/limit-body.ts';
import { resendCode, sendMagicLink, sendRecoveryMail, sendSignInCode } from './codes/otp.ts';
import { sendReauthenticationCode } from './codes/prove-identity.ts';
import { followLink, showLink, verifyCode } from './codes/verify.ts';
import { lazy, route, type Method, type Route } from './dispatch.ts';
import type { AuthDeps, AuthRoutesDeps } from './http/auth-deps.ts';
import { authErrorResponse } from './http/error-response.ts';
import { AuthError } from './http/errors.ts';
import { createRateLimits } from './http/rate-limits.ts';
import { showHealth, showPublicKeys, showSettings } from './http/service-info.ts';
import { changeUser, showUser } from './own-account/user.ts';
import { createPersonalTokens } from './keys/personal-tokens.ts';
import { grantPassword } from './password/sign-in.ts';
import { signUp } from './password/sign-up.ts';
import { grantPkce, grantRefreshToken } from './sessions/token-grants.ts';
import { signOut } from './sessions/logout.ts';

const MAX_BODY_BYTES = 1_048_576;

const ownSessions = () => import('./sessions/own-sessions.ts');
const account = () => import('./own-account/account.ts');
const deletion = () => import('./own-account/request-deletion.ts');
const enrolment = () => import('./factors/enroll.ts');
const challenge = () => import('./factors/challenge.ts');
const verification = () => import('./factors/verify.ts');
const recoveryCodes = () => import('./factors/recovery-codes.ts');
const passkeys = () => import('./factors/passkeys.ts');
const providerStart = () => import('./providers/start-flow.ts');
const providerReturn = () => import('./providers/callback.ts');
const identities = () => import('./providers/identities.ts');
const idToken = () => import('./providers/id-token.ts');
const wallet = () => import('./wallets/sign-in.ts');
const samlReturn = () => import('./saml/acs.ts');
const serviceProvider = () => import('./saml/service-provider.ts');
const users = () => import('./admin/users.ts');
const userFactors = () => import('./admin/user-factors.ts');
const links = () => import('./admin/generate-link.ts');
const audit = () => import('./admin/audit.ts');
const connection = () => import('./admin/connection.ts');
const ownTokens = () => import('./tokens/own-tokens.ts');
const connect = () => import('./tokens/connect.ts');
const ssoProviders = () => import('./admin/sso-providers.ts');

const FACTOR_ID = { id: 'factor_id_not_uuid' } as const;
const PASSKEY_ID = { id: 'passkey_not_found' } as const;
const USER_ID = { userId: 'user_id_not_uuid' } as const;
const USER_AND_FACTOR_ID = { ...USER_ID, factorId: 'factor_id_not_uuid' } as const;
const USER_AND_PASSKEY_ID = { ...USER_ID, passkeyId: 'passkey_not_found' } as const;
const PROVIDER_ID = { providerId: 'sso_identity_provider_not_found' } as const;
const TOKEN_ID = { id: 'no_such_token' } as const;
const RECENT = 'recent sign-in';

// One row is one line, so that the table reads as a table.
// oxfmt-ignore
export const ROUTES: readonly Route[] = [
  // Passwords
  route('POST /signup', { caller: 'guest', budget: 'signup', body: 'json', captcha: true, laterBudget: 'anonymous' }, signUp),
  route('POST /token?grant_type=password', { caller: 'guest', budget: 'token', body: 'json', captcha: true }, grantPassword),

  // Sessions
  route('POST /token?grant_type=refresh_token', { caller: 'guest', laterBudget: 'token', body: 'json' }, grantRefreshToken),
  route('POST /token?grant_type=pkce', { caller: 'guest', budget: 'token', body: 'json' }, grantPkce),
  route('POST /logout', { caller: 'user', laterBudget: 'idle_logout' }, signOut),
  route('GET /sessions', { caller: 'user', secondStep: 'sessions' }, lazy(ownSessions, 'showSessions')),
  route('DELETE /sessions/:id', { caller: 'user', secondStep: 'sessions', budget: 'user', ids: { id: 'no_such_session' } }, lazy(ownSessions, 'endOwnSession')),

  // Mailed and texted codes and links
  route('POST /otp', { caller: 'guest', budget: 'otp', body: 'json', captcha: true }, sendSignInCode),
  route('POST /magiclink', { caller: 'guest', budget: 'magiclink', body: 'json', captcha: true }, sendMagicLink),
  route('POST /recover', { caller: 'guest', budget: 'recover', body: 'json', captcha: true }, sendRecoveryMail),
  route('POST /resend', { caller: 'guest', budget: 'resend', body: 'json', captcha: true }, resendCode),
  route('GET /verify', { caller: 'guest' }, showLink),
  route('POST /verify/continue', { caller: 'guest', laterBudget: 'verify', laterBody: 'form' }, followLink),
  route('POST /verify', { caller: 'guest', budget: 'verify', body: 'json' }, verifyCode),
  route('GET /reauthenticate', { caller: 'user', budget: 'reauthenticate' }, sendReauthenticationCode),

  // The own account
  route('GET /user', { caller: 'user' }, showUser),
  route('PUT /user', { caller: 'user', budget: 'user', body: 'json', proof: 'reauthentication' }, changeUser),
  route('GET /account', { caller: 'user' }, lazy(account, 'showAccount')),
  route('DELETE /account/address-change', { caller: 'user', budget: 'user' }, lazy(account, 'endAddressChange')),
  route('DELETE /account', { caller: 'user', budget: 'user', body: 'json', proof: 'identity' }, lazy(deletion, 'requestDeletion')),
  route('GET /account/undo-deletion', { caller: 'guest' }, lazy(deletion, 'showUndoDeletion')),
  route('POST /account/undo-deletion', { caller: 'guest', budget: 'verify', body: 'form or json' }, lazy(deletion, 'undoDeletion')),

  // Second factors. Recovery codes and factors share a pattern, see `patternOf`.
  route('POST /factors', { caller: 'member', budget: 'factor', body: 'json', proof: RECENT }, lazy(enrolment, 'enrollFactor')),
  route('DELETE /factors/:id', { caller: 'member', budget: 'factor', ids: FACTOR_ID, finds: 'factor', proof: RECENT }, lazy(enrolment, 'unenrollFactor')),
  route('POST /factors/:id/challenge', { caller: 'member', budget: 'factor_challenge', ids: FACTOR_ID, finds: 'factor', laterBody: 'json or none' }, lazy(challenge, 'challengeFactor')),
  route('POST /factors/:id/verify', { caller: 'member', budget: 'factor_verify', ids: FACTOR_ID, finds: 'factor', body: 'json' }, lazy(verification, 'verifyFactor')),
  route('GET /factors/recovery-codes', { caller: 'member' }, lazy(recoveryCodes, 'showRecoveryCodes')),
  route('POST /factors/recovery-codes', { caller: 'member', budget: 'factor', body: 'json or none', proof: RECENT }, lazy(recoveryCodes, 'createRecoveryCodes')),
  route('DELETE /factors/recovery-codes', { caller: 'member', budget: 'factor', proof: RECENT }, lazy(recoveryCodes, 'deleteRecoveryCodes')),
  route('POST /factors/recovery-codes/verify', { caller: 'member', budget: 'factor_verify', body: 'json' }, lazy(recoveryCodes, 'verifyRecoveryCode')),
  route('POST /factors/recovery-codes/regenerate', { caller: 'member', budget: 'factor', proof: RECENT }, lazy(recoveryCodes, 'regenerateRecoveryCodes')),

  // Passkeys
  route('POST /passkeys/registration/options', { needs: 'passkeys', caller: 'member', budget: 'passkey', body: 'json or none', proof: RECENT }, lazy(passkeys, 'createRegistrationOptions')),
  route('POST /passkeys/registration/verify', { needs: 'passkeys', caller: 'member', body: 'json' }, lazy(passkeys, 'verifyRegistration')),
  route('POST /passkeys/authentication/options', { needs: 'passkeys', caller: 'guest', budget: 'passkey', body: 'json or none', captcha: true }, lazy(passkeys, 'createAuthenticationOptions')),
  route('POST /passkeys/authentication/verify', { needs: 'passkeys', caller: 'guest', budget: 'token', body: 'json' }, lazy(passkeys, 'verifyAuthentication')),
  route('GET /passkeys', { needs: 'passkeys', caller: 'member' }, lazy(passkeys, 'showPasskeys')),
  route('PATCH /passkeys/:id', { needs: 'passkeys', caller: 'member', secondStep: 'passkeys', budget: 'factor', ids: PASSKEY_ID, body: 'json', proof: RECENT }, lazy(passkeys, 'updatePasskey')),
  route('DELETE /passkeys/:id', { needs: 'passkeys', caller: 'member', secondStep: 'passkeys', budget: 'factor', ids: PASSKEY_ID, proof: RECENT }, lazy(passkeys, 'deletePasskey')),

  // Personal access tokens, and programs and Slack users that connect (docs/specification/capture.md 2, 4 and 5)
  route('GET /tokens', { caller: 'member', secondStep: 'access tokens' }, lazy(ownTokens, 'showTokens')),
  route('POST /tokens', { caller: 'member', secondStep: 'access tokens', budget: 'factor', body: 'json', proof: RECENT }, lazy(ownTokens, 'addToken')),
  route('DELETE /tokens/:id', { caller: 'member', secondStep: 'access tokens', budget: 'factor', ids: TOKEN_ID }, lazy(ownTokens, 'removeToken')),
  route('POST /device/authorize', { caller: 'guest', budget: 'connect', body: 'form or json' }, lazy(connect, 'authorizeDevice')),
  route('POST /device/token', { caller: 'guest', budget: 'device_poll', body: 'form or json' }, lazy(connect, 'grantDeviceToken')),
  route('POST /device/revoke', { caller: 'guest', budget: 'connect', body: 'form or json' }, lazy(ownTokens, 'revokeHeldToken')),
  route('POST /connect/show', { caller: 'member', secondStep: 'access tokens', budget: 'connect', body: 'json' }, lazy(connect, 'showRequest')),
  route('POST /connect/allow', { caller: 'member', secondStep: 'access tokens', budget: 'connect', body: 'json', proof: RECENT }, lazy(connect, 'allowRequest')),
  route('POST /connect/refuse', { caller: 'member', secondStep: 'access tokens', budget: 'connect', body: 'json' }, lazy(connect, 'refuseRequest')),
  route('POST /connect/unlink', { caller: 'member', secondStep: 'access tokens', budget: 'factor', body: 'json' }, lazy(connect, 'removeSlackLink')),

  // Providers
  route('GET /authorize', { caller: 'guest', budget: 'oauth' }, lazy(providerStart, 'redirectToProvider')),
  route('GET /callback', { caller: 'guest', laterBudget: 'oauth' }, lazy(providerReturn, 'acceptCallback')),
  route('POST /callback', { caller: 'guest', laterBudget: 'oauth', laterBody: 'form' }, lazy(providerReturn, 'acceptCallback')),
  route('POST /token?grant_type=id_token', { caller: 'guest', budget: 'token', body: 'json' }, lazy(idToken, 'grantIdToken')),
  route('GET /user/identities/authorize', { caller: 'linking user', budget: 'oauth' }, lazy(identities, 'authorizeIdentity')),
  route('DELETE /user/identities/:id', { caller: 'linking user', budget: 'user', ids: { id: 'identity_id_not_uuid' } }, lazy(identities, 'deleteIdentity')),

  // SAML
  route('POST /sso', { needs: 'saml', caller: 'guest', budget: 'sso', body: 'json', laterCaptcha: true }, lazy(serviceProvider, 'startSso')),
  route('GET /sso/saml/metadata', { needs: 'saml', caller: 'guest' }, lazy(serviceProvider, 'showMetadata')),
  route('POST /sso/saml/acs', { needs: 'saml', caller: 'guest', laterBudget: 'saml_acs', laterBody: 'SAML form' }, lazy(samlReturn, 'acceptAssertion')),
  route('GET /sso/saml/continue', { needs: 'saml', caller: 'guest', laterBudget: 'saml_acs' }, lazy(samlReturn, 'continueSso')),

  // Wallets
  route('GET /web3/nonce', { needs: 'wallets', caller: 'guest', budget: 'web3_nonce' }, lazy(wallet, 'showNonce')),
  route('POST /token?grant_type=web3', { needs: 'wallets', caller: 'guest', budget: 'web3', body: 'json', laterCaptcha: true }, lazy(wallet, 'grantWeb3')),

  // The server
  route('GET /settings', { caller: 'guest' }, showSettings),
  route('GET /health', { caller: 'guest' }, showHealth),
  route('GET /.well-known/jwks.json', { caller: 'guest' }, showPublicKeys),

  // Administration (docs/specification/api.md 33)
  route('GET /admin/users', { caller: 'service' }, lazy(users, 'listUsers')),
  route('POST /admin/users', { caller: 'service', body: 'json' }, lazy(users, 'createUserByAdmin')),
  route('GET /admin/users/:userId', { caller: 'service', ids: USER_ID }, lazy(users, 'showUserToAdmin')),
  route('PUT /admin/users/:userId', { caller: 'service', ids: USER_ID, body: 'json' }, lazy(users, 'changeUserByAdmin')),
  route('DELETE /admin/users/:userId', { caller: 'service', ids: USER_ID, body: 'json or none' }, lazy(users, 'deleteUserByAdmin')),
  route('GET /admin/users/:userId/factors', { caller: 'service', ids: USER_ID, finds: 'user' }, lazy(userFactors, 'listUserFactors')),
  route('PUT /admin/users/:userId/factors/:factorId', { caller: 'service', ids: USER_AND_FACTOR_ID, finds: 'user', body: 'json' }, lazy(userFactors, 'changeUserFactor')),
  route('DELETE /admin/users/:userId/factors/:factorId', { caller: 'service', ids: USER_AND_FACTOR_ID, finds: 'user' }, lazy(userFactors, 'deleteUserFactor')),
  route('GET /admin/users/:userId/passkeys', { caller: 'service', ids: USER_ID, finds: 'user' }, lazy(userFactors, 'listUserPasskeys')),
  route('DELETE /admin/users/:userId/passkeys/:passkeyId', { caller: 'service', ids: USER_AND_PASSKEY_ID, finds: 'user' }, lazy(userFactors, 'deleteUserPasskey')),
  route('POST /admin/generate_link', { caller: 'service', body: 'json' }, lazy(links, 'generateLink')),
  route('POST /invite', { caller: 'service', body: 'json' }, lazy(links, 'invite')),
  route('GET /admin/audit', { caller: 'service' }, lazy(audit, 'listAuditLog')),
  route('GET /admin/connection', { caller: 'service or probe' }, lazy(connection, 'showConnection')),
  route('GET /admin/sso/providers', { caller: 'service' }, lazy(ssoProviders, 'listProviders')),
  route('POST /admin/sso/providers', { caller: 'service', body: 'json' }, lazy(ssoProviders, 'createProvider')),
  route('GET /admin/sso/providers/:providerId', { caller: 'service', ids: PROVIDER_ID }, lazy(ssoProviders, 'showProvider')),
  route('PUT /admin/sso/providers/:providerId', { caller: 'service', ids: PROVIDER_ID, body: 'json' }, lazy(ssoProviders, 'changeProvider')),
  route('DELETE /admin/sso/providers/:providerId', { caller: 'service', ids: PROVIDER_ID }, lazy(ssoProviders, 'deleteProvider')),
];

/**
 * The pattern of Hono's router that serves the row. The grants of POST /token share one, and so do recovery codes and
 * the factors: the router that Hono chooses for an app with a fixed path segment beside a parameter is slower for every
 * request of the app.
 */
const patternOf = ({ path }: Route): string => path.replace(/\?.*/, '').replace('/recovery-codes', '/:id');

const rowsByPattern = Map.groupBy(ROUTES, (row) => `${row.method} ${patternOf(row)}`);

export const ENDPOINTS = [...rowsByPattern.keys()].map((key) => key.split(' ') as [Method, string]);

/** Chooses the row that the request means, among those with one pattern. Throws an AuthError if it means none. */
function chooseRow(rows: readonly Route[], { req }: Context<AppEnv>): Route {
  if (rows[0]!.path.startsWith('/token?')) {
    const row = rows.find(({ path }) => path === `/token?grant_type=${req.query('grant_type') ?? ''}`);
    if (!row) throw new AuthError(400, 'invalid_credentials', 'unsupported_grant_type');
    return row;
  }
  const isOfRecoveryCodes = ({ path }: Route): boolean => path.startsWith('/factors/recovery-codes');
  const row =
    (req.param('id') === 'recovery-codes' && rows.find(isOfRecoveryCodes)) ||
    rows.find((candidate) => !isOfRecoveryCodes(candidate));
  if (!row) throw new AuthError('no_such_endpoint');
  return row;
}

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
  const tokens = createPersonalTokens(routesDeps);
  return {
    ...routesDeps,
    // Ending all sessions of a user also ends the personal tokens (`endSessions`), even if there was no session. So
    // their cached checks are dropped in any case.
    accessTokens: {
      ...routesDeps.accessTokens,
      invalidateSessions: (ids) => {
        routesDeps.accessTokens.invalidateSessions(ids);
        tokens.invalidate();
      },
    },
    limits: createRateLimits(routesDeps),
    tokens,
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
  for (const [method, pattern] of ENDPOINTS) {
    const rows = rowsByPattern.get(`${method} ${pattern}`)!;
    routes.on(method, pattern, async (context) => chooseRow(rows, context).handle(context, deps));
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
