/** Keeps the session true for all screens: auth events, the profile, and signing out. */
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import type { ReactNode } from 'react';
import { SessionContext } from '#client/lib/session.ts';
import type { SessionState, SignOutScope } from '#client/lib/session.ts';
import { FIRST_LINE_KEY, SIGNED_OUT_KEY, TYPED_ADDRESS_KEY } from '#client/lib/storage-keys.ts';
import { readStoredSession } from '#client/lib/stored-session.ts';
import { useSupabase } from '#client/lib/supabase.ts';
import { accountAfter, LOADING, SIGNED_OUT } from './account-state.ts';
import type { AccountState } from './account-state.ts';
import { useProfile } from './use-profile.ts';

const AUTH_TIMEOUT_MS = 15_000;

const askedToLeave = (userId: string): boolean => localStorage.getItem(SIGNED_OUT_KEY) === userId;

/** A session that needs no renewal is believed at once; what auth says a moment later corrects it. */
function firstAccount(apiUrl: string): AccountState {
  const session = readStoredSession(apiUrl);
  return session ? { ...LOADING, status: 'signedIn', user: session.user } : LOADING;
}

type Change = (now: AccountState) => AccountState;

export function SessionProvider({ children }: { children: ReactNode }) {
  const { auth, apiUrl } = useSupabase();
  const [account, change] = useReducer((now: AccountState, next: Change) => next(now), apiUrl, firstAccount);
  const { user, leaving } = account;
  const { profile, profileState, refreshProfile } = useProfile(user?.id ?? null, account.expired);
  const unfinished = useRef(new Set<() => Promise<void>>());

  useEffect(() => {
    const giveUp = setTimeout(() => change((now) => (now.status === 'loading' ? SIGNED_OUT : now)), AUTH_TIMEOUT_MS);
    // Nothing here may wait for auth: the client holds its own queue while it calls, and would wait for itself.
    const { data } = auth.onAuthStateChange((event, session) => {
      clearTimeout(giveUp);
      // Threat: whoever comes after this user in the same tab would read it.
      if (session) sessionStorage.removeItem(TYPED_ADDRESS_KEY);
      if (event === 'SIGNED_IN' && session && !askedToLeave(session.user.id)) localStorage.removeItem(SIGNED_OUT_KEY);
      change((now) => accountAfter(now, event, session, askedToLeave));
    });
    return () => {
      clearTimeout(giveUp);
      data.subscription.unsubscribe();
    };
  }, [auth]);

  useEffect(() => {
    if (leaving) location.replace('/');
  }, [leaving]);

  const beforeSignOut = useCallback((work: () => Promise<void>) => {
    unfinished.current.add(work);
    return () => void unfinished.current.delete(work);
  }, []);

  const userId = user?.id;
  const signOut = useCallback(
    async (scope: SignOutScope) => {
      await Promise.allSettled([...unfinished.current].map((work) => work()));
      // Written first, so that every tab can tell this sign-out from a session that ran out.
      if (userId) localStorage.setItem(SIGNED_OUT_KEY, userId);
      const { error } = await auth.signOut({ scope });
      // A local sign-out holds even when the server could not be told.
      if (!error || scope === 'local') {
        // Threat: what one person wrote on the landing page is shown there to the next, and begins their journal.
        localStorage.removeItem(FIRST_LINE_KEY);
        return { error: null };
      }
      localStorage.removeItem(SIGNED_OUT_KEY);
      return { error };
    },
    [auth, userId],
  );

  const state = useMemo<SessionState>(
    () => ({
      // Between the wish and the landing page no guard may send anybody to the login screen.
      status: leaving ? 'loading' : account.status,
      user,
      profile,
      profileState,
      expired: account.expired,
      refreshProfile,
      signOut,
      beforeSignOut,
    }),
    [account, beforeSignOut, leaving, profile, profileState, refreshProfile, signOut, user],
  );

  return <SessionContext value={state}>{children}</SessionContext>;
}
