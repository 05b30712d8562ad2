/** Keeps the session true for all screens: auth events, the profile, and signing out. */
import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import type { ReactNode } from 'react';
import { SessionContext } from '#client/lib/session/session.ts';
import type { SessionState, SignOutScope, UnsavedText } from '#client/lib/session/session.ts';
import { SIGNED_OUT_KEY, TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';
import { readStoredSession } from '#client/lib/session/stored-session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { wipeUserData } from '#client/lib/session/wipe-user-data.ts';
import { accountAfter, LOADING, SIGNED_OUT } from './account-state.ts';
import type { AccountState } from './account-state.ts';
import { useProfile } from './use-profile.ts';

const AUTH_TIMEOUT_MS = 15_000;

/** A session that needs no renewal is believed at once; what auth says a moment later corrects it. */
function firstAccount(apiUrl: string): AccountState {
  const session = readStoredSession(apiUrl);
  // The mark of a sign-out that never ended would turn the end of this session into a sign-out, which wipes.
  if (session) localStorage.removeItem(SIGNED_OUT_KEY);
  return session ? { ...LOADING, status: 'signedIn', user: session.user } : LOADING;
}

/** When this user asked to sign out, in whichever tab; null without such a wish. */
function wishToLeave(userId: string): number | null {
  const [leaver, at] = (localStorage.getItem(SIGNED_OUT_KEY) ?? '').split(' ');
  return leaver === userId ? Number(at) : null;
}

type Change = (now: AccountState) => AccountState;

export function SessionProvider({ children }: { children: ReactNode }) {
  const { auth, apiUrl } = useSupabase();
  const [account, change] = useReducer((now: AccountState, next: Change) => next(now), apiUrl, firstAccount);
  const { user, leaving } = account;
  const { profile, profileState, refreshProfile } = useProfile(user?.id ?? null, account.expired);
  const unsent = useRef<UnsavedText>(null);
  const latest = useRef(account);
  latest.current = account;
  /** When the user asked this tab to sign out. */
  const askedAt = useRef<number>(null);

  useEffect(() => {
    // Threat: words that are typed while a sign-out in another tab is under way vanish without a question. So a wish to
    // leave covers only what was unsent at its time.
    const wantedToLeave = (userId: string): boolean => {
      const at = askedAt.current ?? wishToLeave(userId);
      return at !== null && unsent.current?.keepNewerThan(at) !== true;
    };
    const giveUp = setTimeout(() => change((now) => (now.status === 'loading' ? SIGNED_OUT : now)), AUTH_TIMEOUT_MS);
    // Nothing here may wait for auth: the client holds its own queue while it calls, and would wait for itself.
    const { data } = auth.onAuthStateChange((event, session) => {
      clearTimeout(giveUp);
      // Threat: whoever comes after this user in the same tab would read it.
      if (session) sessionStorage.removeItem(TYPED_ADDRESS_KEY);
      const now = latest.current;
      // A mark of an earlier session would turn the end of this one into a sign-out.
      if (session && (now.status !== 'signedIn' || now.expired)) {
        askedAt.current = null;
        localStorage.removeItem(SIGNED_OUT_KEY);
      }
      const leaver = !session && now.user && wantedToLeave(now.user.id) ? now.user.id : null;
      // Here and not in an effect: screens that are taken away keep drafts, and this tab may not be the one that asked.
      if (leaver !== null) {
        unsent.current?.forget();
        wipeUserData(leaver);
      }
      change((before) => accountAfter(before, event, session, leaver));
    });
    return () => {
      clearTimeout(giveUp);
      data.subscription.unsubscribe();
    };
  }, [auth]);

  useEffect(() => {
    if (leaving) location.replace('/');
  }, [leaving]);

  const registerUnsavedText = useCallback((words: UnsavedText) => {
    unsent.current = words;
    return () => void (unsent.current === words && (unsent.current = null));
  }, []);
  const sendUnsavedText = useCallback(async () => (await unsent.current?.send()) ?? [], []);

  const userId = user?.id;
  const signOut = useCallback(
    async (scope: SignOutScope) => {
      // Written first, so that every tab can tell this sign-out from a session that ran out.
      askedAt.current = Date.now();
      if (userId) localStorage.setItem(SIGNED_OUT_KEY, `${userId} ${askedAt.current}`);
      const { error } = await auth.signOut({ scope });
      // A local sign-out holds even when the server could not be told.
      if (!error || scope === 'local') return { error: null };
      askedAt.current = null;
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
      sendUnsavedText,
      registerUnsavedText,
    }),
    [account, leaving, profile, profileState, refreshProfile, registerUnsavedText, sendUnsavedText, signOut, user],
  );

  return <SessionContext value={state}>{children}</SessionContext>;
}
