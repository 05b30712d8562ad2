/** Tells a user who signs in, while it happens, that the sign-in has undone the deletion of the account. */
import type { Session } from '@supabase/auth-js';
import { useEffect } from 'react';
import { OWN_ACCOUNT_MESSAGES } from '#domain/account/own-account-messages.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { DELETION_KEY } from '#client/lib/session/storage-keys.ts';
import { useToast } from '../toast.tsx';

/** For the screens that sign in: the client stores the session with the mark until its first renewal. */
export function useWelcomeBack(): void {
  const { auth } = useSupabase();
  const toast = useToast();
  useEffect(() => {
    const { data } = auth.onAuthStateChange((event, session: (Session & { deletion_undone?: true }) | null) => {
      if (event !== 'SIGNED_IN' || !session) return;
      // The landing page must not offer to undo the deletion any more, nor do so to another user.
      sessionStorage.removeItem(DELETION_KEY);
      if (session.deletion_undone) toast({ kind: 'success', text: OWN_ACCOUNT_MESSAGES.deletionUndone });
    });
    return () => data.subscription.unsubscribe();
  }, [auth, toast]);
}
