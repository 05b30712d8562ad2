/** Provides the session to all screens: follows auth events, reads the profile and signs out. */
import type { Session, User } from '@supabase/auth-js';
import { useCallback, useEffect, useMemo, useReducer, useRef, useState, type ReactNode } from 'react';
import { SessionContext, type SessionState, type SignOutScope, type UnsavedText } from '#client/lib/session/session.ts';
import { SIGNED_OUT_KEY, sessionStorageKey, TYPED_ADDRESS_KEY } from '#client/lib/session/storage-keys.ts';
import {
  hasStoredSession,
  needsSecondStep,
  readAnySession,
  readStoredSession,
} from '#client/lib/session/stored-session.ts';
import { subscribeToProxyAnswers, useSupabase, type Supabase } from '#client/lib/api/supabase.ts';
import { useClearToastsOf, useToast } from '#client/ui/toast.tsx';
import { wipeUserData } from '#client/lib/session/wipe-user-data.ts';
import type { Profile } from '#domain/log/entry.ts';
import { readProfile } from '#client/lib/api/first-reads.ts';

const AUTH_TIMEOUT_MS = 15_000;
/**
 * auth-js tries to renew a session for up to 30 seconds before it reports anything. The page waits for three of them,
 * then trusts the stored session.
 */
const RENEWAL_TIMEOUT_MS = 3_000;

/**
 * The page loads auth-js, which renews the session and follows the other tabs, this long after its own code. A session
 * that must be renewed first does not wait.
 */
const AUTH_DELAY_MS = 1_000;

/**
 * The state before the first auth event, which corrects it: trusts a stored session that needs no renewal, and the
 * absence of a stored session.
 */
function initialAccount(apiUrl: string): AccountState {
  const session = readStoredSession(apiUrl, true);
  // SIGNED_OUT_KEY may remain from an unfinished sign-out. It would turn an expiry of this session into a sign-out,
  // which wipes local data.
  if (session) localStorage.removeItem(SIGNED_OUT_KEY);
  if (session) return signedInAs(session);
  return hasStoredSession(apiUrl) ? LOADING : SIGNED_OUT;
}

const signedInAs = ({ user }: Session): AccountState => ({ ...LOADING, status: 'signedIn', user });

/** When this user asked any tab of this browser to sign out, in epoch milliseconds; null without such a request. */
function readSignOutTime(userId: string): number | null {
  const [signedOutUserId, at] = (localStorage.getItem(SIGNED_OUT_KEY) ?? '').split(' ');
  return signedOutUserId === userId ? Number(at) : null;
}

type Change = (now: AccountState) => AccountState;

export function SessionProvider({ children }: { children: ReactNode }) {
  const { apiUrl, loadAuth, onAuthStateChange } = useSupabase();
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
    const followSession = (session: Session | null): void => {
      // Threat: the next user of the same tab would see the email address that this user typed.
      if (session) sessionStorage.removeItem(TYPED_ADDRESS_KEY);
      const now = latest.current;
      // SIGNED_OUT_KEY of an earlier session would turn an expiry of this session into a sign-out.
      if (session && (now.status !== 'signedIn' || now.expired)) {
        signOutAt.current = null;
        localStorage.removeItem(SIGNED_OUT_KEY);
      }
      applySession(session);
    };
    // auth-js removes a session from storage when the session has ended. So a session that is still stored counts, even
    // while the server cannot be reached to renew it.
    const stored = () => readStoredSession(apiUrl, false);
    const stopWaiting = (): void => {
      const session = stored();
      change((now) => (now.status !== 'loading' ? now : session ? signedInAs(session) : SIGNED_OUT));
    };
    const timeout = setTimeout(stopWaiting, stored() ? RENEWAL_TIMEOUT_MS : AUTH_TIMEOUT_MS);
    let hasStarted = false;
    const stopListening = onAuthStateChange((event, session) => {
      clearTimeout(timeout);
      const isStart = !hasStarted;
      hasStarted ||= event === 'INITIAL_SESSION';
      // Another tab has removed this session after auth-js read it, and its broadcast may have come before this event.
      if (isStart && session && !hasStoredSession(apiUrl)) return applySession(null);
      if (!session && event === 'INITIAL_SESSION' && stored()) return stopWaiting();
      followSession(session);
    });
    const onStorage = ({ key }: StorageEvent): void => {
      // Threat: auth-js's broadcast of another tab's sign-out may arrive before that tab's SIGNED_OUT_KEY. Without the
      // key the session looks expired, and the log would stay readable behind the sign-in overlay.
      if (key === SIGNED_OUT_KEY && latest.current.expired) applySession(null);
      // auth-js misses the broadcasts of other tabs until it has loaded, so follow the storage as well.
      if (key === sessionStorageKey(apiUrl)) followSession(readAnySession(apiUrl));
    };
    addEventListener('storage', onStorage);
    return () => {
      clearTimeout(timeout);
      removeEventListener('storage', onStorage);
      stopListening();
    };
  }, [apiUrl, onAuthStateChange]);

  useEffect(() => {
    // A failure is ignored: the next request that needs auth-js loads it again.
    const load = (): void => void loadAuth().catch(() => {});
    const timer = setTimeout(load, latest.current.status === 'loading' ? 0 : AUTH_DELAY_MS);
    addEventListener('online', load);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', load);
    };
  }, [loadAuth]);

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
      const auth = await loadAuth().catch(() => null);
      const { error } = (await auth?.signOut({ scope })) ?? { error: new Error('auth-js did not load') };
      // A local sign-out succeeds even when the server is unreachable.
      if (!error || (auth && scope === 'local')) return { error: null };
      signOutAt.current = null;
      localStorage.removeItem(SIGNED_OUT_KEY);
      return { error };
    },
    [loadAuth, userId],
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
 * docs/specification/messages.md 4 says when this shows. Not in the message catalogue (`MESSAGES`), which would then
 * load with every page of the app.
 */
const PROXY_ANSWERED =
  'Something in front of the server, such as a company sign-in, refuses your requests. Reload the page to sign in there.';
/** The shortest time between two such toasts. A page that polls would repeat them. */
const PROXY_TOAST_MS = 60_000;

/** Tells the user that a proxy answers instead of the server. Only a reload shows what the proxy wants. */
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

type AccountState = {
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
 * The sign-in state as a function of the sessions that auth events bring (docs/specification/accounts.md 1).
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
    // auth-js repeats SIGNED_IN whenever the tab gets the focus: keep the state object, so that no screen re-renders.
    // Users are compared as JSON, because a changed factor or identity does not change `updated_at`.
    const isSameUser = now.status === 'signedIn' && !now.expired && now.user?.id === session.user.id;
    if (isSameUser && JSON.stringify(now.user) === JSON.stringify(session.user)) return now;
    return { ...SIGNED_OUT, status: 'signedIn', user: session.user };
  }
  if (now.status !== 'signedIn' || !now.user) return now.leaving ? now : SIGNED_OUT;
  return now.user.id === signedOutUserId
    ? { ...SIGNED_OUT, leaving: true }
    : { ...now, expired: true, secondStepUser: null };
}

// Reads the signed-in user's profile row (docs/specification/accounts.md 10). If there is no row or the read fails,
// reads once more after two seconds. If a read fails, uses the row that stored-profile.ts keeps of a premium user.

const PROFILE_TIMEOUT_MS = 10_000;
const PROFILE_RETRY_MS = 2_000;

/**
 * A row; null for a new user without one (docs/specification/accounts.md 10); or a failure, which says nothing about
 * the plan. After `timedOut` the screen stops waiting; after the first `failed` it waits for the retry.
 */
type ReadResult = Profile | null | 'failed' | 'timedOut';

async function requestProfile(supabase: Supabase, userId: string): Promise<ReadResult> {
  const timeout = AbortSignal.timeout(PROFILE_TIMEOUT_MS);
  try {
    const { createDataClient } = await import('#client/lib/api/data-client.ts');
    const { data, error } = await readProfile(createDataClient(supabase), userId).abortSignal(timeout).maybeSingle();
    if (!error) return data;
  } catch {
    // A chunk that cannot be loaded counts like a request that failed.
  }
  return timeout.aborted ? 'timedOut' : 'failed';
}

/** Null also if the chunk cannot be loaded: the plan then stays unknown. */
const readStored = (userId: string): Promise<Profile | null> =>
  import('#client/lib/plan/stored-profile.ts').then(
    (module) => module.readStoredProfile(userId),
    () => null,
  );

type LastRead = { userId: string; result: ReadResult };
type ProfileView = Pick<SessionState, 'profile' | 'profileState' | 'refreshProfile'>;

function useProfile(userId: string | null, paused: boolean): ProfileView {
  const supabase = useSupabase();
  const [last, setLast] = useState<LastRead | null>(null);
  const currentUserId = useRef(userId);
  currentUserId.current = userId;

  const refreshProfile = useCallback(async () => {
    if (userId === null) return false;
    const result = await requestProfile(supabase, userId);
    const shown = typeof result === 'object' ? result : ((await readStored(userId)) ?? result);
    // Drop a response for a user who has signed out in the meantime.
    if (currentUserId.current !== userId) return false;
    setLast((before) => ({
      userId,
      result: mergeResults(before?.userId === userId ? before.result : undefined, shown),
    }));
    return isProfile(result);
  }, [supabase, userId]);

  useEffect(() => {
    if (userId === null || paused) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let isCancelled = false;
    void refreshProfile().then((found) => {
      if (!found && !isCancelled) retry = setTimeout(() => void refreshProfile(), PROFILE_RETRY_MS);
    });
    return () => {
      isCancelled = true;
      clearTimeout(retry);
    };
  }, [paused, refreshProfile, userId]);

  const own = last?.userId === userId ? last.result : undefined;
  return { profile: isProfile(own) ? own : null, profileState: stateOf(own), refreshProfile };
}

const isProfile = (result: ReadResult | undefined): result is Profile => typeof result === 'object' && result !== null;

/** A later failure does not replace a known row. A second failure ends the wait. */
function mergeResults(before: ReadResult | undefined, now: ReadResult): ReadResult {
  // Keep the object of an unchanged row, so that no screen re-renders.
  if (isProfile(now) && isProfile(before) && JSON.stringify(now) === JSON.stringify(before)) return before;
  if (isProfile(now) || before === undefined) return now;
  if (isProfile(before)) return before;
  if (now === null) return null;
  return before === null ? null : 'timedOut';
}

/** After a first failure the state stays `loading` until the retry. */
function stateOf(result: ReadResult | undefined): SessionState['profileState'] {
  if (result === undefined || result === 'failed') return 'loading';
  if (result === null) return 'missing';
  return result === 'timedOut' ? 'unavailable' : 'ready';
}
