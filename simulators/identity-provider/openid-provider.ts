/** A simulated OpenID provider that looks like Google: discovery, keys, consent page, token and user info. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { numericId, type IdentityAccount } from './accounts.ts';
import { consentPage, invalidRequestPage, readChoice } from './consent-page.ts';
import type { IdentityEnv } from './fault-middleware.ts';
import {
  isClient,
  parseAuthorizationRequest,
  returnUrl,
  type AuthorizationRequest,
  type Client,
  type Grants,
} from './grants.ts';
import type { IdTokenSigner } from './id-token.ts';

export const GOOGLE_CLIENT: Client = { id: 'sandbox.apps.googleusercontent.com', secret: 'sandbox-google-secret' };
const NAME = 'Google';
const NO_STORE = { 'Cache-Control': 'no-store' };

/** @property pages the URL at which the browser reaches the provider; @property issuer the URL for the server */
export type ProviderAddresses = { issuer: string; pages: string };

type ProviderDeps = { addresses: () => ProviderAddresses; grants: Grants; signer: IdTokenSigner };

export function openidRoutes({ addresses, grants, signer }: ProviderDeps): Hono<IdentityEnv> {
  const app = new Hono<IdentityEnv>();

  app.get('/.well-known/openid-configuration', (context) => {
    const { issuer, pages } = addresses();
    return context.json({
      issuer,
      authorization_endpoint: `${pages}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'email', 'profile'],
      authorization_response_iss_parameter_supported: true,
    });
  });
  app.get('/jwks', async (context) => context.json(await signer.publish()));

  const returnTo = (request: AuthorizationRequest, fields: Record<string, string>): string =>
    returnUrl(request, { ...fields, iss: addresses().issuer });

  app.get('/authorize', (context) => {
    const query = new URL(context.req.url).searchParams;
    const request = parseAuthorizationRequest(query, GOOGLE_CLIENT);
    if ('problem' in request) return context.html(invalidRequestPage(NAME, request.problem), 400, NO_STORE);
    // The provider keeps no session of a visitor, so it cannot answer without a page.
    if (query.get('prompt') === 'none') return context.redirect(returnTo(request, { error: 'login_required' }), 302);
    return context.html(consentPage(NAME), 200, NO_STORE);
  });
  app.post('/authorize', async (context) => {
    const request = parseAuthorizationRequest(new URL(context.req.url).searchParams, GOOGLE_CLIENT);
    if ('problem' in request) return context.html(invalidRequestPage(NAME, request.problem), 400, NO_STORE);
    const choice = readChoice(new URLSearchParams(await context.req.text()));
    if (choice === null) return context.html(consentPage(NAME), 400, NO_STORE);
    if (choice === 'denied') return context.redirect(returnTo(request, { error: 'access_denied' }), 302);
    return context.redirect(returnTo(request, { code: grants.issueCode(request, choice.account) }), 302);
  });

  app.post('/token', async (context) => {
    const form = new URLSearchParams(await context.req.text());
    if (!isClient(GOOGLE_CLIENT, form, context.req.header('authorization')))
      return context.json({ error: 'invalid_client', error_description: 'Unauthorized' }, 401, NO_STORE);
    if (form.get('grant_type') !== 'authorization_code')
      return context.json({ error: 'unsupported_grant_type' }, 400, NO_STORE);
    const grant = grants.redeemCode({
      code: form.get('code') ?? '',
      redirectUri: form.get('redirect_uri') ?? '',
      verifier: form.get('code_verifier') ?? '',
    });
    if (grant === null)
      return context.json({ error: 'invalid_grant', error_description: 'Malformed auth code.' }, 400, NO_STORE);
    const { nonce, scopes } = grant.request;
    const claims = {
      iss: addresses().issuer,
      azp: GOOGLE_CLIENT.id,
      aud: GOOGLE_CLIENT.id,
      jti: randomUUID(),
      ...userClaims(grant.account, scopes),
      ...(nonce !== null && { nonce }),
    };
    const answer = {
      access_token: grants.issueToken(grant, 'ya29.sandbox-'),
      expires_in: 3_599,
      scope: scopes.join(' '),
      token_type: 'Bearer',
      ...(scopes.includes('openid') && { id_token: await signer.sign(claims, context.get('fault') ?? null) }),
    };
    return context.json(answer, 200, NO_STORE);
  });

  app.get('/userinfo', (context) => {
    const grant = grants.findByToken(context.req.header('authorization'));
    if (grant === null) return context.json({ error: 'invalid_token' }, 401, { 'WWW-Authenticate': 'Bearer' });
    return context.json(userClaims(grant.account, grant.request.scopes), 200, NO_STORE);
  });
  return app;
}

/** Google's ids have 21 digits. */
const subjectOf = (email: string): string => `1${String(numericId(email)).padStart(20, '0')}`;

const userClaims = (
  { email, name, verified }: IdentityAccount,
  scopes: readonly string[],
): Record<string, unknown> => ({
  sub: subjectOf(email),
  ...(scopes.includes('email') && { email, email_verified: verified }),
  ...(scopes.includes('profile') && { name, given_name: name.split(' ')[0] }),
});
