/** Provides the savers of the signed-in user to all screens, and forwards page, network and session events to them. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { dayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { clearPrefetched } from '#client/lib/boot/prefetch.ts';
import { invalidateEntryCache, setDateStored } from '#client/sync/entries/entry-cache.ts';
import { createDayDrafts } from '#client/sync/day-drafts.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSession, useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { createDaySavers } from './day-savers.ts';
import type { Timers } from './day-saver/day-saver.ts';
import type { DaySavers } from './day-savers.ts';
import { entryKey } from './entries/entry-queries.ts';
import type { ReadEntry } from './entries/entry-queries.ts';
import { createMergeLoader } from './merge-loader.ts';
import { createEntryTransport } from './entries/entry-transport.ts';
import type { EntryTransport } from './save-requests.ts';
import { createLocalCopies, isKeptLocally } from './store/local-copies.ts';
import type { LocalCopies } from './store/local-copies.ts';
import { createOutbox } from './store/outbox.ts';
import { createTabs } from './store/tabs.ts';
import type { StoredMessage, Tabs } from './store/tabs.ts';
import { openUserDatabase } from './store/user-database.ts';

export const browserTimers: Timers = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

type Journal = {
  savers: DaySavers;
  transport: EntryTransport;
  copies: LocalCopies;
  tabs: Tabs;
  /** A saver restores the draft of its day when it is created, so no day opens before the drafts are loaded. */
  draftsLoaded: Promise<void>;
};
const JournalContext = createContext<Journal | null>(null);

export function useJournal(): Journal {
  const journal = use(JournalContext);
  if (!journal) throw new Error('useJournal needs a DaySaversProvider above it');
  return journal;
}

/** The copies on this device; null outside the provider, for example in the upgrade dialog. */
export const useLocalCopies = (): LocalCopies | null => use(JournalContext)?.copies ?? null;

type DaySaversProviderProps = {
  /** A save has deleted the log of a day, which had this text. */
  onRemoved: (savers: DaySavers, date: Day, html: string) => void;
  children: ReactNode;
};

export function DaySaversProvider({ onRemoved, children }: DaySaversProviderProps) {
  const queries = useQueryClient();
  const data = useData();
  const user = useUser();
  const { auth } = useSupabase();
  const { refreshProfile, registerUnsavedText } = useSession();
  const premium = usePremium();

  const [journal] = useState<Journal>(() => {
    const writer = crypto.randomUUID();
    const database = openUserDatabase(user.id);
    const copies = createLocalCopies(database, Date.now);
    const showStored = ({ date, stored, at }: StoredMessage): void => {
      queries.setQueryData<ReadEntry>(entryKey(date), { stored, askedAt: at });
      setDateStored(queries, date, stored !== null);
      invalidateEntryCache(queries);
    };
    const tabs = createTabs(user.id, writer, (message) => {
      showStored(message);
      savers.get(message.date)?.offer(message.stored, message.at);
    });
    const onStored = (date: Day, stored: ReadEntry['stored']): void => {
      const message = { date, stored, at: Date.now() };
      showStored(message);
      tabs.announce(message);
      void copies.keepDay(date, stored);
    };
    const drafts = createDayDrafts(localStorage, user.id, writer, createOutbox(database, tabs));
    const draftsLoaded = drafts.load();
    const wire = createEntryTransport(data, user.id, () => void refreshProfile());
    const transport: EntryTransport = {
      ...tabs.inTurn(wire),
      read: async (date, id) => (await Promise.all([wire.read(date, id), draftsLoaded]))[0],
    };
    const savers: DaySavers = createDaySavers({
      transport,
      timers: browserTimers,
      merger: createMergeLoader(browserTimers),
      drafts,
      isOnline: () => navigator.onLine,
      onStored,
      onRemoved: (date, html) => onRemoved(savers, date, html),
    });
    return { savers, transport, copies, tabs, draftsLoaded };
  });

  useEffect(() => journal.tabs.join(), [journal]);
  useEffect(() => watchPage(journal.savers), [journal]);

  useEffect(() => {
    // Best effort: if the chunk does not load or the databases cannot be listed, the next page tries again.
    import('./store/wipe-other-users.ts').then((module) => module.wipeOtherUsers(user.id)).catch(() => {});
  }, [user.id]);

  // Threat: the plan ends, and this device still shows the days that the server now refuses.
  useEffect(() => {
    const today = dayOf(new Date());
    if (premium !== null) void journal.copies.pruneDays((day) => isKeptLocally(day, premium, today));
  }, [journal, premium]);

  // Send text of locked days as soon as the plan unlocks them.
  useEffect(() => void (premium && journal.savers.retry()), [journal, premium]);

  useEffect(() => {
    const { data: listening } = auth.onAuthStateChange((event, session) => {
      if (session?.user.id !== user.id || event === 'INITIAL_SESSION') return;
      // Not within the callback: the auth client holds its lock during the call.
      setTimeout(() => {
        journal.savers.retry();
        void queries.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
      });
    });
    return () => listening.subscription.unsubscribe();
  }, [auth, journal, queries, user.id]);

  useEffect(
    () =>
      registerUnsavedText({
        send: () => journal.savers.sendBeforeSignOut(),
        keepTypedAfter: (at) => journal.savers.redraftIfNewer(at),
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

/**
 * Recovers drafts, flushes when the page is hidden or left, and retries when it is visible again or the network
 * changes.
 */
function watchPage(savers: DaySavers): () => void {
  void savers.recover();
  const persist = (): void => savers.persist();
  const onVisibility = (): void => (document.visibilityState === 'hidden' ? savers.persist() : retry());
  const retry = (): void => {
    savers.retry();
    // Another tab may have been closed with unsent text, and drafts of days that could not be read are still waiting.
    void savers.recover();
  };
  const onBeforeUnload = (event: BeforeUnloadEvent): void => {
    // Ask the user only if leaving would lose text that is neither on the server nor in a draft.
    if (!savers.isSafe()) event.preventDefault();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('pagehide', persist);
  addEventListener('online', retry);
  addEventListener('offline', retry);
  addEventListener('beforeunload', onBeforeUnload);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('pagehide', persist);
    removeEventListener('online', retry);
    removeEventListener('offline', retry);
    removeEventListener('beforeunload', onBeforeUnload);
    savers.persist();
  };
}
