/** Provides the session to all screens: follows auth events, reads the profile and signs out. */
import type { Session } from '@supabase/auth-js';
import { useCallback, useEffect, useMemo, useReducer, useRef, type ReactNode } from 'react';
import { SessionContext, type SessionState, type SignOutScope, type UnsavedText } from '#client/lib/session/session.ts';
import { SIGNED_OUT_KEY, TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';
import { readStoredSession } from '#client/lib/session/stored-session.ts';
import { subscribeToProxyAnswers } from '#client/lib/api/proxy-answer.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useClearToastsOf, useToast } from '#client/ui/toast.tsx';
import { wipeUserData } from '#client/lib/session/wipe-user-data.ts';
import { LOADING, reduceAccount, SIGNED_OUT, type AccountState } from './account-state.ts';
import { useProfile } from './use-profile.ts';

const AUTH_TIMEOUT_MS = 15_000;
/**
 * auth-js tries to renew a session for up to 30 seconds before it reports anything. The page waits for three of them,
 * then trusts the stored session.
 */
const RENEWAL_TIMEOUT_MS = 3_000;

/** The state before the first auth event, which corrects it: trusts a stored session that needs no renewal. */
function initialAccount(apiUrl: string): AccountState {
  const session = readStoredSession(apiUrl, true);
  // SIGNED_OUT_KEY may remain from an unfinished sign-out. It would turn an expiry of this session into a sign-out,
  // which wipes local data.
  if (session) localStorage.removeItem(SIGNED_OUT_KEY);
  return session ? signedInAs(session) : LOADING;
}

const signedInAs = ({ user }: Session): AccountState => ({ ...LOADING, status: 'signedIn', user });

/** When this user asked any tab of this browser to sign out, in epoch milliseconds; null without such a request. */
function readSignOutTime(userId: string): number | null {
  const [signedOutUserId, at] = (localStorage.getItem(SIGNED_OUT_KEY) ?? '').split(' ');
  return signedOutUserId === userId ? Number(at) : null;
}

type Change = (now: AccountState) => AccountState;

export function SessionProvider({ children }: { children: ReactNode }) {
  const { auth, apiUrl } = useSupabase();
  const [account, change] = useReducer((now: AccountState, next: Change) => next(now), apiUrl, initialAccount);
  const { user, leaving } = account;
  const { profile, profileState, refreshProfile } = useProfile(user?.id ?? null, account.expired);
  const unsavedText = useRef<UnsavedText>(null);
  const latest = useRef(account);
  latest.current = account;
  /** When the user asked this tab to sign out, in epoch milliseconds. */
  const signOutAt = useRef<number>(null);

  useEffect(() => {
    // Threat: text typed while another tab signs out is wiped without a question. So a request to sign out covers only
    // the text that was unsaved at its time.
    const hasAskedToSignOut = (userId: string): boolean => {
      const at = signOutAt.current ?? readSignOutTime(userId);
      return at !== null && unsavedText.current?.redraftIfNewer(at) !== true;
    };
    const applySession = (session: Session | null): void => {
      const now = latest.current;
      const signedOutUserId = !session && now.user && hasAskedToSignOut(now.user.id) ? now.user.id : null;
      // Runs before the state change, not in an effect, because screens write drafts when they unmount. Runs here and
      // not in `signOut`, because the sign-out may have been requested in another tab.
      if (signedOutUserId !== null) {
        unsavedText.current?.discard();
        wipeUserData(signedOutUserId);
      }
      change((before) => reduceAccount(before, session, signedOutUserId));
    };
    // auth-js removes a session from storage when the session has ended. So a session that is still stored counts, even
    // while the server cannot be reached to renew it.
    const stored = () => readStoredSession(apiUrl, false);
    const stopWaiting = (): void => {
      const session = stored();
      change((now) => (now.status !== 'loading' ? now : session ? signedInAs(session) : SIGNED_OUT));
    };
    const timeout = setTimeout(stopWaiting, stored() ? RENEWAL_TIMEOUT_MS : AUTH_TIMEOUT_MS);
    // Deadlock: auth-js holds its lock during this callback, so the callback must not await an auth call.
    const { data } = auth.onAuthStateChange((event, session) => {
      clearTimeout(timeout);
      if (!session && event === 'INITIAL_SESSION' && stored()) return stopWaiting();
      // Threat: the next user of the same tab would see the email address that this user typed.
      if (session) sessionStorage.removeItem(TYPED_ADDRESS_KEY);
      const now = latest.current;
      // SIGNED_OUT_KEY of an earlier session would turn an expiry of this session into a sign-out.
      if (session && (now.status !== 'signedIn' || now.expired)) {
        signOutAt.current = null;
        localStorage.removeItem(SIGNED_OUT_KEY);
      }
      applySession(session);
    });
    // Threat: auth-js's broadcast of another tab's sign-out may arrive before that tab's SIGNED_OUT_KEY. Without the
    // key the session looks expired, and the log would stay readable behind the sign-in overlay.
    const onStorage = ({ key }: StorageEvent): void => {
      if (key === SIGNED_OUT_KEY && latest.current.expired) applySession(null);
    };
    addEventListener('storage', onStorage);
    return () => {
      clearTimeout(timeout);
      removeEventListener('storage', onStorage);
      data.subscription.unsubscribe();
    };
  }, [apiUrl, auth]);

  useEffect(() => {
    if (leaving) location.replace('/');
  }, [leaving]);

  const registerUnsavedText = useCallback((text: UnsavedText) => {
    unsavedText.current = text;
    return () => void (unsavedText.current === text && (unsavedText.current = null));
  }, []);
  const sendUnsavedText = useCallback(async () => (await unsavedText.current?.send()) ?? [], []);

  const userId = user?.id;
  useClearToastsOf(userId);
  useProxyToast();
  const signOut = useCallback(
    async (scope: SignOutScope) => {
      // Stored before the request, so that every tab can tell this sign-out from an expired session.
      signOutAt.current = Date.now();
      try {
        if (userId) localStorage.setItem(SIGNED_OUT_KEY, `${userId} ${signOutAt.current}`);
      } catch {
        // The storage is full: other tabs ask to sign in again.
      }
      const { error } = await auth.signOut({ scope });
      // A local sign-out succeeds even when the server is unreachable.
      if (!error || scope === 'local') return { error: null };
      signOutAt.current = null;
      localStorage.removeItem(SIGNED_OUT_KEY);
      return { error };
    },
    [auth, userId],
  );

  const state = useMemo<SessionState>(
    () => ({
      // `loading` until the landing page loads, so that no guard redirects to the login screen.
      status: leaving ? 'loading' : account.status,
      user,
      profile,
      profileState,
      expired: account.expired,
      secondStepUser: account.secondStepUser,
      refreshProfile,
      signOut,
      sendUnsavedText,
      registerUnsavedText,
    }),
    [account, leaving, profile, profileState, refreshProfile, registerUnsavedText, sendUnsavedText, signOut, user],
  );

  return <SessionContext value={state}>{children}</SessionContext>;
}

/**
 * The text of docs/specification/messages.md 4. The message catalogue, a kilobyte, would load with every page of the app.
 */
const PROXY_ANSWERED =
  'Something in front of the server, such as a company sign-in, refuses your requests. Reload the page to sign in there.';
/** How often at most a page says that a proxy answers: a page that polls would repeat it. */
const PROXY_TOAST_MS = 60_000;

/** Tells the user that a proxy answers instead of the server. Only a page that loads anew shows what it wants. */
function useProxyToast(): void {
  const toast = useToast();
  useEffect(() => {
    let shownAt = -Infinity;
    return subscribeToProxyAnswers(() => {
      if (Date.now() - shownAt < PROXY_TOAST_MS) return;
      shownAt = Date.now();
      toast({
        kind: 'error',
        text: PROXY_ANSWERED,
        action: { label: 'Reload the page', run: () => location.reload() },
      });
    });
  }, [toast]);
}
