/** A simulated OpenID provider that looks like Google: discovery, keys, consent page, token and user info. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { numericId, type IdentityAccount, consentPage, invalidRequestPage, readChoice } from './consent-page.ts';
import type { IdentityEnv, IdentityFault } from './faults.ts';
import {
  isClient,
  parseAuthorizationRequest,
  returnUrl,
  type AuthorizationRequest,
  type Client,
  type Grants,
} from './grants.ts';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

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

const ALGORITHM = 'RS256';
const KEY_ID = 'sandbox-1';
const LIFETIME_SECONDS = 3_600;

type Keys = { published: JWK; privateKey: CryptoKey; foreignKey: CryptoKey };

export type IdTokenSigner = {
  /** The content of the JWKS endpoint. */
  publish(): Promise<{ keys: JWK[] }>;
  sign(claims: Record<string, unknown>, fault?: IdentityFault | null): Promise<string>;
};

/** Generates its keys at the first use, so that the sandbox starts fast. */
export function createIdTokenSigner(): IdTokenSigner {
  let keys: Promise<Keys> | null = null;
  const loadKeys = (): Promise<Keys> => (keys ??= generateKeys());
  return {
    publish: async () => ({ keys: [(await loadKeys()).published] }),
    async sign(claims, fault = null) {
      const { privateKey, foreignKey } = await loadKeys();
      const now = Math.floor(Date.now() / 1000);
      // JSON drops claims that are undefined.
      const payload = JSON.parse(
        JSON.stringify({ iat: now, exp: now + LIFETIME_SECONDS, ...claims, ...fault?.claims }),
      );
      if (fault?.signature === 'none') return `${encode({ alg: 'none' })}.${encode(payload)}.`;
      const key = fault?.signature === 'foreign' ? foreignKey : privateKey;
      return new SignJWT(payload).setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID, typ: 'JWT' }).sign(key);
    },
  };
}

async function generateKeys(): Promise<Keys> {
  const [pair, foreign] = await Promise.all([generateKeyPair(ALGORITHM), generateKeyPair(ALGORITHM)]);
  const published = { ...(await exportJWK(pair.publicKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' };
  return { published, privateKey: pair.privateKey, foreignKey: foreign.privateKey };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
