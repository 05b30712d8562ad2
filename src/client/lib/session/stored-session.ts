/** The session that auth-js keeps in this browser, read without waiting for it: the journal begins with it at once. */
import type { Session } from '@supabase/auth-js';
import { sessionStorageKey } from './storage-keys.ts';

/** Auth-js renews a token that ends sooner than this (its EXPIRY_MARGIN_MS) before it says that anybody is signed in. */
const RENEWED_BEFORE_END_MS = 90_000;

/** Null whenever auth-js has to be waited for: nothing stored, nothing readable, or a token that must be renewed first. */
export function readStoredSession(apiUrl: string): Session | null {
  try {
    const session = JSON.parse(localStorage.getItem(sessionStorageKey(apiUrl)) ?? 'null') as Partial<Session> | null;
    const { access_token: token, refresh_token: renewal, expires_at: end, user } = session ?? {};
    const isWhole = typeof token === 'string' && typeof renewal === 'string' && typeof user?.id === 'string';
    const lasts = typeof end === 'number' && end * 1000 - Date.now() > RENEWED_BEFORE_END_MS;
    return isWhole && lasts ? (session as Session) : null;
  } catch {
    return null;
  }
}
