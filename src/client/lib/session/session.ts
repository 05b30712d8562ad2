/** The session context that all screens read. Its provider is app/session/session-provider.tsx. */
import type { User } from '@supabase/auth-js';
import { createContext, use } from 'react';
import type { Day } from '#domain/day/day.ts';
import type { Profile } from '#domain/log/entry.ts';

export type SignOutScope = 'global' | 'local';

export type SessionState = {
  status: 'loading' | 'signedOut' | 'signedIn';
  /** The last known user. Stays set while `expired`, so that the text on the page keeps its owner. */
  user: User | null;
  profile: Profile | null;
  /**
   * `missing`: there is no row. `unavailable`: reading it failed, so the plan is unknown
   * (docs/specification/accounts.md 10).
   */
  profileState: 'loading' | 'ready' | 'missing' | 'unavailable';
  /** The session has ended, but not by a sign-out. The screen stays, with the sign-in overlay on top. */
  expired: boolean;
  /** The user of a sign-in that waits for its second step. Until then, screens read none of this account's data. */
  secondStepUser: User | null;
  /** Reads the profile again. Resolves with whether this read found a profile. */
  refreshProfile: () => Promise<boolean>;
  /**
   * Signs out in all tabs of this browser, wipes the user's local data and opens the landing page. A tab with text
   * typed after this call keeps it and asks to sign in again. When the server is unreachable, `local` still removes the
   * session from this device, and `global` returns the error and changes nothing, as both do if auth-js cannot load.
   * Shows no confirmation: buttons use `useSignOut`.
   */
  signOut: (scope: SignOutScope) => Promise<{ error: Error | null }>;
  /** Sends unsaved text. Resolves within a few seconds with the days that could not be sent. */
  sendUnsavedText: () => Promise<readonly Day[]>;
  /** The saving engine registers its unsaved text here. Returns a function that unregisters the text. */
  registerUnsavedText: (text: UnsavedText) => () => void;
};

/** Text of the signed-in user that may exist only in this browser. */
export type UnsavedText = {
  send: () => Promise<readonly Day[]>;
  /**
   * Returns whether text was typed after `at`. Keeps such text in a new draft, because a sign-out requested at `at` has
   * not asked the user about it.
   */
  redraftIfNewer: (at: number) => boolean;
  /** Drops the text after a sign-out and stops writing to this browser's storage. */
  discard: () => void;
};

export const SessionContext = createContext<SessionState | null>(null);

export function useSession(): SessionState {
  const session = use(SessionContext);
  if (!session) throw new Error('useSession needs a SessionContext above it');
  return session;
}

/** Returns the user, also while the session has expired. Throws without a user: use it only within MembersLayout. */
export function useUser(): User {
  const { user } = useSession();
  if (!user) throw new Error('useUser is for screens behind the guard');
  return user;
}

/** The name from sign-up; empty for an account without one. */
export function accountName(user: User | null): string {
  const name: unknown = user?.user_metadata['name'];
  return typeof name === 'string' ? name.trim() : '';
}

/** The name, or `User` (docs/specification/screens.md 7). */
export const displayName = (user: User | null): string => accountName(user) || 'User';

export type { User };

/** The name of the company's identity provider in the API: `sso:` with an id. */
export const ssoProviderOf = ({ identities = [] }: User): string | undefined =>
  identities.find(({ provider }) => provider.startsWith('sso:'))?.provider;

export const isSsoUser = (user: User): boolean => ssoProviderOf(user) !== undefined;
