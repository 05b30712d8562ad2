/** The sign-in state as a pure function of the sessions that auth events bring (docs/specification/accounts.md 1). */
import type { Session, User } from '@supabase/auth-js';
import { needsSecondStep } from '#client/lib/session/stored-session.ts';

export type AccountState = {
  status: 'loading' | 'signedOut' | 'signedIn';
  user: User | null;
  expired: boolean;
  /** The user asked to sign out, here or in another tab: the page goes to `/` instead of asking for a password. */
  leaving: boolean;
  /**
   * The user who has passed the first step of a sign-in, but not the second. `user` is then null, or the user of the
   * expired session.
   */
  secondStepUser: User | null;
};

export const SIGNED_OUT: AccountState = {
  status: 'signedOut',
  user: null,
  expired: false,
  leaving: false,
  secondStepUser: null,
};
export const LOADING: AccountState = { ...SIGNED_OUT, status: 'loading' };

/**
 * `signedOutUserId`: the user who asked to sign out in this browser. If the session of any other user ends, it counts
 * as expired, and the overlay asks that user to sign in again.
 */
export function reduceAccount(
  now: AccountState,
  session: Session | null,
  signedOutUserId: string | null,
): AccountState {
  if (session && needsSecondStep(session)) {
    const { user } = session;
    if (now.secondStepUser?.id === user.id) return now;
    // A user who signs in again in the overlay keeps the page below it.
    const page = now.user?.id === user.id ? { ...now, expired: true } : SIGNED_OUT;
    return { ...page, secondStepUser: user };
  }
  if (session) {
    // auth-js repeats SIGNED_IN whenever the tab gets the focus: keep the state object, so that no screen re-renders. A
    // changed factor or identity does not change the user's `updated_at`.
    const isSameUser = now.status === 'signedIn' && !now.expired && now.user?.id === session.user.id;
    if (isSameUser && JSON.stringify(now.user) === JSON.stringify(session.user)) return now;
    return { ...SIGNED_OUT, status: 'signedIn', user: session.user };
  }
  if (now.status !== 'signedIn' || !now.user) return now.leaving ? now : SIGNED_OUT;
  return now.user.id === signedOutUserId
    ? { ...SIGNED_OUT, leaving: true }
    : { ...now, expired: true, secondStepUser: null };
}
