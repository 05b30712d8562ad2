/** Who is signed in, as every screen sees it. The provider that keeps it true is in app/session/session-provider.tsx. */
import type { AuthError, User } from '@supabase/auth-js';
import { createContext, use } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { Profile } from '#domain/log/entry.ts';

export type SignOutScope = 'global' | 'local';

export type SessionState = {
  status: 'loading' | 'signedOut' | 'signedIn';
  /** The last user known; stays while `expired`, so that the page somebody is writing on keeps its owner. */
  user: User | null;
  profile: Profile | null;
  /** `missing`: there is no row. `unread`: it could not be read, so nothing is known about the plan (docs/specification/accounts.md 10). */
  profileState: 'loading' | 'ready' | 'missing' | 'unavailable';
  /** The session ended without the user asking. The screen stays as it is and a sign-in overlay lies over it. */
  expired: boolean;
  /** Reads the profile again; true when there is one. */
  refreshProfile: () => Promise<boolean>;
  /**
   * Signs out, wipes every local copy of the user and leaves for the landing page, in all tabs of this browser. A tab with
   * words that were typed after this call keeps them instead, and asks to sign in again. `local`
   * forgets the session on this device even when the server cannot be reached; `global` then answers with the error and
   * changes nothing. Never asks: buttons use `useSignOut`.
   */
  signOut: (scope: SignOutScope) => Promise<{ error: AuthError | null }>;
  /** Sends unsent words. Resolves with the days that could not be sent, after a few seconds at most. */
  sendUnsavedText: () => Promise<readonly Day[]>;
  /** Whoever saves the user's words registers here. Returns the function that takes it back. */
  registerUnsavedText: (words: UnsavedText) => () => void;
};

/** The words of the signed-in user that may be in this browser alone. */
export type UnsavedText = {
  send: () => Promise<readonly Day[]>;
  /** Whether words were typed after this time, so that no sign-out of that time has asked about them. They are kept. */
  keepNewerThan: (at: number) => boolean;
  /** The user has signed out: nothing may be written to this browser again. */
  forget: () => void;
};

export const SessionContext = createContext<SessionState | null>(null);

export function useSession(): SessionState {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a SessionContext above it');
  return session;
}

/** The signed-in user inside protected screens, where there always is one. */
export function useUser(): User {
  const { user } = useSession();
  if (!user) throw new Error('useUser is for screens behind the guard');
  return user;
}

/** The name given at sign-up; empty for an account that was made without one. */
export function accountName(user: User | null): string {
  const name: unknown = user?.user_metadata['name'];
  return typeof name === 'string' ? name.trim() : '';
}

/** The name, or `User` (docs/specification/screens.md 7). */
export const displayName = (user: User | null): string => accountName(user) || 'User';

export type { User };
