/** Verifies an ID token that a client got from the provider itself (docs/specification/wire.md 27). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type RemoteJWKSet } from 'jose';
import type { Configuration } from 'openid-client';
import type { OAuthProvider } from '#server/config/auth-settings.ts';
import { OAuthError } from '../http/errors.ts';
import { checkAuthorizedParty, discoverProvider } from './oidc-client.ts';
import { PROVIDER_TIMEOUT_SECONDS } from './provider-client.ts';
import { ProviderError } from './provider-error.ts';

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

export type VerifiedIdToken = { claims: JWTPayload; issuer: string; expiresAt: Date };

/** Throws an OAuthError for an unacceptable token, and a ProviderError if the provider or its keys cannot be read. */
export async function verifyIdToken(
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
export const GOOGLE_ISSUER = 'https://accounts.google.com';

export const badIdTokenError = (): OAuthError => new OAuthError('invalid request', 'Bad ID token');

/**
 * One key set per configuration, so that jose's cache is kept. jose loads the keys again when a token names an unknown
 * key, at most every 30 seconds.
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
 * The token carries the SHA-256 of the nonce that the client made. Threat: a token that was stolen on its way, from a
 * log or another app, is useless without the nonce itself.
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
