/**
 * POST /token?grant_type=id_token: signs in with an ID token that the client got from the provider, for example from
 * Google's One Tap, or links the provider's account to the signed-in user (docs/specification/api.md 27).
 *
 * Threat: replay. supabase/auth accepts an ID token until it expires. Here a token is accepted once: its hash is stored
 * in the transaction that signs the user in.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type RemoteJWKSet } from 'jose';
import type { Configuration } from 'openid-client';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import { getAccount } from '../accounts/accounts.ts';
import { requireLinking } from '../codes/prove-identity.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest, OAuthError } from '../http/errors.ts';
import { redirectTarget } from '../http/redirects.ts';
import { KNOWN_PROVIDERS } from '../http/service-info.ts';
import { lockSignedInUser } from '../sessions/require-user.ts';
import { respondWithSession } from '../sessions/session-response.ts';
import { startSession } from '../sessions/sessions.ts';
import { checkAuthorizedParty, discoverProvider } from './oidc-client.ts';
import { identityFromClaims, PROVIDER_TIMEOUT_SECONDS, ProviderError } from './provider-client.ts';
import { signInWithProvider } from './sign-in-with-provider.ts';

export const grantIdToken: Endpoint<{ body: Body; device: Device }> = async (context, deps, { body, device }) => {
  const { clock, config } = deps;
  const idToken = body.text('id_token');
  if (idToken === '') throw new OAuthError('invalid request', 'id_token required');
  const provider = chooseProvider(config.auth.oauthProviders, body);
  const linking = body.flag('link_identity', false) ? await requireLinking(context, deps) : null;
  const now = clock.now();
  const { identity, expiresAt } = await readIdentity(deps, provider, { idToken, body, now });
  const linkingUserId = linking?.account.user.id ?? null;
  const redirectTo = redirectTarget(context, config);
  const signedIn = await signInWithProvider(
    deps,
    { provider, identity, linkingUserId, redirectTo, device, now },
    {
      async prepare(transaction) {
        if (linking) {
          await lockSignedInUser(transaction, linking.account.user.id, linking.session);
        }
        if (!(await claimToken(transaction, idToken, expiresAt))) throw badIdTokenError();
      },
      async complete(transaction, userId) {
        const { name } = provider;
        const started = await startSession(transaction, { userId, method: 'oauth', provider: name, device, now });
        return { started, account: await getAccount(transaction, userId) };
      },
    },
  );
  return context.json(await respondWithSession(context, deps, signedIn));
};

/** Finds the provider by `provider`, or by `client_id` and `issuer`. GitHub is excluded: it issues no ID tokens. */
function chooseProvider(providers: readonly OAuthProvider[], body: Body): OAuthProvider {
  const [name, clientId, issuer] = [body.text('provider'), body.text('client_id'), body.text('issuer')];
  if (name === '' && (clientId === '' || issuer === ''))
    throw new OAuthError('invalid request', 'provider or client_id and issuer required');
  const isChosen = (provider: OAuthProvider): boolean =>
    provider.kind === 'oidc' &&
    (name === ''
      ? provider.clientId === clientId && provider.issuer === issuer.replace(/\/$/, '')
      : provider.name === name);
  const chosen = providers.find(isChosen);
  if (chosen) return chosen;
  if (KNOWN_PROVIDERS.has(name))
    throw new AuthError(
      400,
      'provider_disabled',
      `Provider (issuer "${name === 'google' ? GOOGLE_ISSUER : issuer}") is not enabled`,
    );
  throw invalidRequest(`Custom OIDC provider "${(name === '' ? issuer : name).slice(0, MAX_NAME_LENGTH)}" not allowed`);
}

const MAX_NAME_LENGTH = 200;

async function readIdentity(
  { log }: AuthDeps,
  provider: OAuthProvider,
  { idToken, body, now }: { idToken: string; body: Body; now: Date },
) {
  try {
    const presented = { idToken, accessToken: body.text('access_token'), nonce: body.text('nonce') };
    const { claims, issuer, expiresAt } = await verifyIdToken(provider, presented, now);
    return { identity: identityFromClaims(provider.name, issuer, claims), expiresAt };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    log.warn({ err: error, provider: provider.name }, 'an ID token cannot be verified');
    if (error.kind === 'unavailable') throw new AuthError('provider_unavailable');
    throw badIdTokenError();
  }
}

/**
 * False if the token was used before. The hash leaves the signature out: a signature can be re-encoded without becoming
 * invalid, and the same token would pass again.
 */
async function claimToken(transaction: AsService, idToken: string, expiresAt: Date): Promise<boolean> {
  const signed = idToken.slice(0, idToken.lastIndexOf('.'));
  const rows = await transaction.run(
    queryBuilder
      .insertInto('auth.used_id_tokens')
      .values({ token_hash: createHash('sha256').update(signed).digest(), expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing())
      .returning('token_hash'),
  );
  return rows.length > 0;
}

/** Threat: algorithm confusion. The list has neither `none` nor HMAC, whose secret could be the public key. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** The maximum age of an accepted token, even if the provider lets it live longer: a token must be a fresh proof. */
const MAX_AGE_SECONDS = 3_600;
const CLOCK_TOLERANCE_SECONDS = 30;

type PresentedToken = { idToken: string; accessToken: string; nonce: string };

type VerifiedIdToken = { claims: JWTPayload; issuer: string; expiresAt: Date };

/**
 * Verifies an ID token that a client got from the provider itself (docs/specification/api.md 27).
 *
 * Throws an OAuthError for an unacceptable token, and a ProviderError if the provider or its keys cannot be read.
 */
async function verifyIdToken(
  provider: OAuthProvider,
  { idToken, accessToken, nonce }: PresentedToken,
  now: Date,
): Promise<VerifiedIdToken> {
  const configuration = await discoverProvider(provider);
  const { issuer } = configuration.serverMetadata();
  const claims = await verifyToken(idToken, {
    keys: keysOf(configuration),
    issuer: issuer === GOOGLE_ISSUER ? [issuer, GOOGLE_ISSUER.replace('https://', '')] : [issuer],
    audience: provider.clientId,
    now,
  });
  if (!isIssuedTo(provider, claims['azp'])) throw badIdTokenError();
  checkNonce(claims['nonce'], nonce);
  if (accessToken !== '' && !matchesAccessToken(idToken, claims['at_hash'], accessToken)) throw badIdTokenError();
  return { claims, issuer, expiresAt: new Date((claims.exp! + CLOCK_TOLERANCE_SECONDS) * 1000) };
}

/** Google's documentation names its issuer with and without `https://`, so `verifyIdToken` accepts both. */
const GOOGLE_ISSUER = 'https://accounts.google.com';

const badIdTokenError = (): OAuthError => new OAuthError('invalid request', 'Bad ID token');

/**
 * One key set per configuration, so that jose's cache is kept. jose loads the keys again after ten minutes, and when a
 * token names an unknown key, at most every 30 seconds.
 */
const keySets = new WeakMap<Configuration, RemoteJWKSet>();

function keysOf(configuration: Configuration): RemoteJWKSet {
  const existing = keySets.get(configuration);
  if (existing) return existing;
  const { jwks_uri: url } = configuration.serverMetadata();
  if (url === undefined) throw new ProviderError('rejected', 'the provider publishes no keys');
  const keys = createRemoteJWKSet(new URL(url), { timeoutDuration: PROVIDER_TIMEOUT_SECONDS * 1000 });
  keySets.set(configuration, keys);
  return keys;
}

type TokenChecks = { keys: RemoteJWKSet; issuer: string[]; audience: string; now: Date };

async function verifyToken(idToken: string, { keys, issuer, audience, now }: TokenChecks): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(idToken, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      currentDate: now,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      maxTokenAge: MAX_AGE_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    // OpenID Connect Core 3.1.3.7: a token for several audiences says to whom it was issued.
    if (Array.isArray(payload.aud) && payload.aud.length > 1 && payload['azp'] === undefined) throw badIdTokenError();
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud') {
      const audiences = [error.payload.aud ?? []].flat().join(' ');
      throw new OAuthError('invalid request', `Unacceptable audience in id_token: [${audiences}]`);
    }
    if (isUnavailable(error)) throw new ProviderError('unavailable', 'the keys cannot be read', error);
    if (error instanceof errors.JOSEError) throw badIdTokenError();
    throw error;
  }
}

/** jose reports an HTTP error with its base class, and a failed connection with the error of `fetch`. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof errors.JWKSTimeout ||
  (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC') ||
  (error instanceof TypeError && error.message === 'fetch failed');

function isIssuedTo(provider: OAuthProvider, authorizedParty: unknown): boolean {
  try {
    checkAuthorizedParty(provider, authorizedParty);
    return true;
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}

/**
 * If the client made a nonce, the token carries its SHA-256. Threat: a token that was stolen on its way, from a log or
 * another app, is useless without the nonce itself.
 */
function checkNonce(hashed: unknown, nonce: string): void {
  if ((hashed === undefined || hashed === '') !== (nonce === '')) {
    throw new OAuthError('invalid request', 'Passed nonce and nonce in id_token should either both exist or not.');
  }
  if (nonce === '') return;
  const expected = Buffer.from(createHash('sha256').update(nonce).digest('hex'));
  const presented = Buffer.from(typeof hashed === 'string' ? hashed : '');
  if (presented.length !== expected.length || !timingSafeEqual(presented, expected))
    throw new OAuthError('invalid nonce', 'Nonces mismatch');
}

/** Checks `at_hash` (OpenID Connect Core 3.1.3.6). True if the ID token has no such claim or an unknown algorithm. */
function matchesAccessToken(idToken: string, hashed: unknown, accessToken: string): boolean {
  if (typeof hashed !== 'string') return true;
  const bits = /(256|384|512)$/.exec(decodeProtectedHeader(idToken).alg ?? '')?.[1];
  if (bits === undefined) return true;
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url') === hashed;
}
