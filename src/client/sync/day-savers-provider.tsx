/** Provides the savers of the signed-in user to all screens, and forwards page, network and session events to them. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useState, type ReactNode } from 'react';
import type { Day } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { clearPrefetched } from '#client/lib/boot/prefetch.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import type { DaySavers } from './day-savers.ts';
import { createJournal, watchPage, type Journal } from './journal.ts';
import type { LocalCopies } from './store/local-copies.ts';

const JournalContext = createContext<Journal | null>(null);

export function useJournal(): Journal {
  const journal = use(JournalContext);
  if (!journal) throw new Error('useJournal needs a DaySaversProvider above it');
  return journal;
}

/** The copies of logs in IndexedDB; null outside the provider, for example in the upgrade dialog. */
export const useLocalCopies = (): LocalCopies | null => use(JournalContext)?.copies ?? null;

type DaySaversProviderProps = {
  /** A save has deleted a day's log, whose text was `html`. */
  onRemoved: (savers: DaySavers, date: Day, html: string) => void;
  children: ReactNode;
};

export function DaySaversProvider({ onRemoved, children }: DaySaversProviderProps) {
  const queries = useQueryClient();
  const data = useData();
  const user = useUser();
  const { onAuthStateChange } = useSupabase();
  const { refreshProfile, registerUnsavedText } = useSession();
  const premium = usePremium();

  const [journal] = useState<Journal>(() =>
    createJournal({ userId: user.id, data, queries, onLocked: () => void refreshProfile(), onRemoved }),
  );

  useEffect(() => journal.tabs.join(), [journal]);
  useEffect(() => watchPage(journal.savers), [journal]);

  useEffect(() => {
    // Best effort: if the chunk does not load or the databases cannot be listed, the next page tries again.
    import('./store/wipe-other-users.ts').then((module) => module.wipeOtherUsers(user.id)).catch(() => {});
  }, [user.id]);

  // Send text of locked days as soon as the plan unlocks them.
  useEffect(() => void (premium && journal.savers.retry()), [journal, premium]);

  useEffect(() => {
    let hasStarted = false;
    return onAuthStateChange((event, session) => {
      if (event === 'INITIAL_SESSION') hasStarted = true;
      // auth-js starts after the screen, and announces the stored session as a sign-in.
      const isNews = event !== 'INITIAL_SESSION' && (hasStarted || event !== 'SIGNED_IN');
      if (!isNews || session?.user.id !== user.id) return;
      // Deferred: auth-js waits for its listeners before it ends a renewal, and these requests may need one.
      setTimeout(() => {
        journal.savers.retry();
        void queries.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
      });
    });
  }, [journal, onAuthStateChange, queries, user.id]);

  useEffect(
    () =>
      registerUnsavedText({
        send: () => journal.savers.sendBeforeSignOut(),
        redraftIfNewer: (at) => journal.savers.redraftIfNewer(at),
        discard() {
          journal.savers.discard();
          clearPrefetched();
          queries.clear();
        },
      }),
    [journal, queries, registerUnsavedText],
  );

  return <JournalContext value={journal}>{children}</JournalContext>;
}
