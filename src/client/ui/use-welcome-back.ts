/** The toast after a sign-in that has undone the deletion of the account. */
import type { Session } from '@supabase/auth-js';
import { useCallback, useEffect } from 'react';
import { OWN_ACCOUNT_MESSAGES } from '#domain/account/own-account-messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import { useToast } from './toast.tsx';

/** Pass the session as the server sent it: `setSession` drops `deletion_undone`. */
export const hasUndoneDeletion = (session: (Session & { deletion_undone?: true }) | null): boolean =>
  session?.deletion_undone ?? false;

/** Runs `useWelcome` after every sign-in while the calling screen is mounted. */
export function useWelcomeBack(): void {
  const { onAuthStateChange } = useSupabase();
  const welcome = useWelcome();
  useEffect(() => {
    return onAuthStateChange((event, session) => {
      if (event === 'SIGNED_IN' && session) welcome(hasUndoneDeletion(session));
    });
  }, [onAuthStateChange, welcome]);
}

/** Returns a function to call after a sign-in. */
export function useWelcome(): (isDeletionUndone: boolean) => void {
  const toast = useToast();
  return useCallback(
    (isDeletionUndone) => {
      // The landing page must no longer offer to undo the deletion, neither to this user nor to the next one.
      sessionStorage.removeItem(DELETION_KEY);
      if (isDeletionUndone) toast({ kind: 'success', text: OWN_ACCOUNT_MESSAGES.deletionUndone });
    },
    [toast],
  );
}
