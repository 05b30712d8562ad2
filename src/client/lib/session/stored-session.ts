/**
 * Reads the session that auth-js stores in this browser, synchronously, so that the journal starts without waiting for
 * auth-js.
 */
import type { Session } from '@supabase/auth-js';
import { sessionStorageKey } from './storage-keys.ts';

/** auth-js renews a token that expires sooner than this (its EXPIRY_MARGIN_MS) before it reports a session. */
const EXPIRY_MARGIN_MS = 90_000;

/** The stored session, of any age, also a sign-in without its second step. Null for none and for an invalid one. */
export function readAnySession(apiUrl: string): Session | null {
  try {
    const session = JSON.parse(localStorage.getItem(sessionStorageKey(apiUrl)) ?? 'null') as Partial<Session> | null;
    const { access_token: token, refresh_token: refreshToken, user } = session ?? {};
    const isComplete = typeof token === 'string' && typeof refreshToken === 'string' && typeof user?.id === 'string';
    return isComplete ? (session as Session) : null;
  } catch {
    return null;
  }
}

/**
 * Null also for a sign-in without its second step. `isFresh`: also null for a token that is about to expire, because
 * the server may refuse to renew it.
 */
export function readStoredSession(apiUrl: string, isFresh: boolean): Session | null {
  const session = readAnySession(apiUrl);
  if (!session || needsSecondStep(session)) return null;
  const { expires_at: expiresAt } = session;
  const isUsable = !isFresh || (typeof expiresAt === 'number' && expiresAt * 1000 - Date.now() > EXPIRY_MARGIN_MS);
  return isUsable ? session : null;
}

/** Also true for a session that `readStoredSession` does not return, and where the browser blocks storage. */
export const hasStoredSession = (apiUrl: string): boolean => {
  try {
    return localStorage.getItem(sessionStorageKey(apiUrl)) !== null;
  } catch {
    return true;
  }
};

/**
 * The second step of a sign-in (docs/specification/accounts.md 14). The first step alone starts a session whose token
 * has the assurance level `aal1`; the screens treat it as no session until the second step raises it to `aal2`.
 */
export const needsSecondStep = ({ access_token, user }: Pick<Session, 'access_token' | 'user'>): boolean =>
  user.factors?.some(({ status }) => status === 'verified') === true && readClaims(access_token)?.aal !== 'aal2';

type Claims = { sub?: unknown; aal?: unknown; session_id?: string };

/**
 * Reads the claims of an access token without checking its signature: the server checks every token that it gets. Null
 * for a malformed token.
 */
export function readClaims(token: string): Claims | null {
  try {
    const payload = token.split('.')[1]!;
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Claims;
  } catch {
    return null;
  }
}
