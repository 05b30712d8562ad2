/**
 * Binds a flow to the browser that started it, by a cookie.
 *
 * Threat: login CSRF. An attacker signs in at a provider, stops before the callback and lets the victim's browser open
 * it. The victim would be signed in to the attacker's account. PKCE prevents this, because the victim's client has no
 * verifier for the attacker's code; a flow without PKCE needs the cookie.
 *
 * Threat: an attacker starts to link an identity and lets the victim sign in at the provider. The victim's identity
 * would be linked to the attacker's account, so every flow that links needs the cookie.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { AppEnv } from '#server/http/app-env.ts';
import type { AuthDeps } from '../http/auth-deps.ts';

const COOKIE = 'hustle-forge-flow';
/** Longer than the lifetime of a flow. */
const MAX_AGE_SECONDS = 900;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** With https the cookie has the prefix `__Host-`. Threat: a sibling subdomain sets it, which that prefix prevents. */
const isSecure = ({ config }: Pick<AuthDeps, 'config'>): boolean => config.publicUrl.startsWith('https:');

const readCookie = (context: Context<AppEnv>, deps: AuthDeps): string | null => {
  const value = isSecure(deps) ? getCookie(context, COOKIE, 'host') : getCookie(context, COOKIE);
  return value !== undefined && VALUE.test(value) ? value : null;
};

/** Sets the cookie and returns its hash, to store with the flow. All concurrent flows of a browser share the cookie. */
export function bindBrowser(context: Context<AppEnv>, deps: AuthDeps): Buffer {
  const value = readCookie(context, deps) ?? randomBytes(32).toString('base64url');
  setCookie(context, COOKIE, value, {
    httpOnly: true,
    // The provider's redirect is a cross-site navigation, for which `Strict` would withhold the cookie.
    sameSite: 'Lax',
    path: '/',
    maxAge: MAX_AGE_SECONDS,
    ...(isSecure(deps) && { prefix: 'host', secure: true }),
  });
  return hashValue(value);
}

/** True for the browser whose `bindBrowser` returned the hash. */
export function isBoundBrowser(context: Context<AppEnv>, deps: AuthDeps, browserHash: Buffer): boolean {
  const value = readCookie(context, deps);
  return value !== null && timingSafeEqual(hashValue(value), browserHash);
}

const hashValue = (value: string): Buffer => createHash('sha256').update(value).digest();
