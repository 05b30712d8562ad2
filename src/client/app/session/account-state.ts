/** The sign-in state as a pure function of auth events (docs/specification/accounts.md 1). */
import type { AuthChangeEvent, Session, User } from '@supabase/auth-js';

export type AccountState = {
  status: 'loading' | 'signedOut' | 'signedIn';
  user: User | null;
  expired: boolean;
  /** The user asked to sign out, here or in another tab: the page goes to `/` instead of asking for a password. */
  leaving: boolean;
};

export const LOADING: AccountState = { status: 'loading', user: null, expired: false, leaving: false };
export const SIGNED_OUT: AccountState = { status: 'signedOut', user: null, expired: false, leaving: false };

/**
 * `signedOutUserId`: the user who asked to sign out in this browser. When the session of any other user is lost, it has
 * expired.
 */
export function reduceAccount(
  now: AccountState,
  event: AuthChangeEvent,
  session: Session | null,
  signedOutUserId: string | null,
): AccountState {
  if (session) {
    // auth-js repeats SIGNED_IN whenever the tab gets the focus: keep the state object, so that no screen re-renders.
    const isSameUser = now.status === 'signedIn' && !now.expired && now.user?.id === session.user.id;
    if (isSameUser && now.user?.updated_at === session.user.updated_at && event !== 'USER_UPDATED') return now;
    return { status: 'signedIn', user: session.user, expired: false, leaving: false };
  }
  if (now.status !== 'signedIn' || !now.user) return now.leaving ? now : SIGNED_OUT;
  return now.user.id === signedOutUserId ? { ...SIGNED_OUT, leaving: true } : { ...now, expired: true };
}
