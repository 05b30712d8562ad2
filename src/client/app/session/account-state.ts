/** How each auth event changes who is signed in: the rules of docs/specification/accounts.md 1, as one function without side effects. */
import type { AuthChangeEvent, Session, User } from '@supabase/auth-js';

export type AccountState = {
  status: 'loading' | 'signedOut' | 'signedIn';
  user: User | null;
  expired: boolean;
  /** Signed out by wish, here or in another tab: the page leaves for `/` instead of asking for a password. */
  leaving: boolean;
};

export const LOADING: AccountState = { status: 'loading', user: null, expired: false, leaving: false };
export const SIGNED_OUT: AccountState = { status: 'signedOut', user: null, expired: false, leaving: false };

/** `leaver` is the id of a user who asked to sign out in this browser; without that wish a lost session has expired. */
export function accountAfter(
  now: AccountState,
  event: AuthChangeEvent,
  session: Session | null,
  leaver: string | null,
): AccountState {
  if (session) {
    // SIGNED_IN comes again whenever the tab gets the focus: the same user, unchanged, is no news to any screen.
    const known = now.status === 'signedIn' && !now.expired && now.user?.id === session.user.id;
    if (known && now.user?.updated_at === session.user.updated_at && event !== 'USER_UPDATED') return now;
    return { status: 'signedIn', user: session.user, expired: false, leaving: false };
  }
  if (now.status !== 'signedIn' || !now.user) return now.leaving ? now : SIGNED_OUT;
  return now.user.id === leaver ? { ...SIGNED_OUT, leaving: true } : { ...now, expired: true };
}
