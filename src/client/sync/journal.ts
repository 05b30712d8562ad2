/** Wires the parts of the saving engine to one page: savers, drafts, copies, the other tabs and the queries. */
import type { QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import { createDayDrafts, type DayDrafts, type Outbox } from './day-drafts.ts';
import { createDaySavers, type DaySavers } from './day-savers.ts';
import type { Timers } from './day-saver/day-saver.ts';
import { invalidateEntryCache, setDateStored, entryKey, type ReadEntry } from './entries/entry-queries.ts';
import { createEntryTransport } from './entries/entry-transport.ts';
import { createMergeLoader } from './merge-loader.ts';
import type { EntryTransport } from './save-requests.ts';
import { createLocalCopies, type LocalCopies } from './store/local-copies.ts';
import { createTabs, type StoredMessage, type Tabs } from './store/tabs.ts';
import { openUserDatabase, type UserDatabase } from './store/user-database.ts';

export const browserTimers: Timers = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

export type Journal = {
  savers: DaySavers;
  transport: EntryTransport;
  copies: LocalCopies;
  drafts: DayDrafts;
  outbox: Outbox;
  tabs: Tabs;
  /** A saver restores the draft of its day when it is created, so no day opens before the drafts are loaded. */
  draftsLoaded: Promise<void>;
  writeLimit: WriteLimit;
};

type Deps = {
  userId: string;
  data: DataClient;
  queries: QueryClient;
  /** The server has refused a day that the plan known to the page opens. */
  onLocked: () => void;
  /** A save has deleted a day's log, whose text was `html`. */
  onRemoved: (savers: DaySavers, date: Day, html: string) => void;
};

export function createJournal({ userId, data, queries, onLocked, onRemoved }: Deps): Journal {
  const writer = crypto.randomUUID();
  // `isSafe` stores all unsaved text in drafts, now in localStorage.
  const database = openUserDatabase(userId, () => savers.isSafe());
  const copies = createLocalCopies(database, userId, Date.now);
  const showStored = ({ date, stored, at }: StoredMessage): void => {
    queries.setQueryData<ReadEntry>(entryKey(date), { stored, readAt: at });
    setDateStored(queries, copies, date, stored !== null);
    invalidateEntryCache(queries);
  };
  const tabs = createTabs(userId, writer, (message) => {
    showStored(message);
    savers.get(message.date)?.takeRow(message.stored, message.at);
  });
  const onStored = (date: Day, stored: ReadEntry['stored']): void => {
    const message = { date, stored, at: Date.now() };
    showStored(message);
    tabs.announce(message);
    void copies.storeDay(date, stored);
  };
  const outbox = createOutbox(database, tabs);
  const drafts = createDayDrafts(localStorage, userId, writer, outbox);
  const draftsLoaded = drafts.load();
  const writeLimit = createWriteLimit();
  const pageTransport = createEntryTransport(data, userId, { onLocked, onWritten: writeLimit.set });
  const transport: EntryTransport = {
    ...tabs.serializeWrites(pageTransport),
    read: async (date, id) => (await Promise.all([pageTransport.read(date, id), draftsLoaded]))[0],
  };
  const savers: DaySavers = createDaySavers({
    transport,
    timers: browserTimers,
    merger: createMergeLoader(browserTimers),
    drafts,
    takeOverInTurn: tabs.takeOverInTurn,
    isOnline: () => navigator.onLine,
    isHidden: () => document.visibilityState === 'hidden',
    onStored,
    onRemoved: (date, html) => onRemoved(savers, date, html),
  });
  return { savers, transport, copies, drafts, outbox, tabs, draftsLoaded, writeLimit };
}

/** Whether the server refuses writes because the user has used up a minute's bytes. Savers only see `retryAfterMs`. */
export type WriteLimit = { isReached: () => boolean; subscribe: (listener: () => void) => () => void };

function createWriteLimit() {
  let isReached = false;
  const listeners = new Set<() => void>();
  return {
    isReached: () => isReached,
    set(next: boolean): void {
      if (next === isReached) return;
      isReached = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * Recovers drafts, flushes when the page is hidden or left, and retries when it is visible again or the network
 * changes.
 */
export function watchPage(savers: DaySavers): () => void {
  void savers.recover();
  const persist = (): void => savers.persist();
  const onVisibility = (): void => (document.visibilityState === 'hidden' ? savers.persist() : retry());
  const retry = (): void => {
    savers.retry();
    // Drafts of days that could not be read are still waiting.
    void savers.recover();
  };
  const onBeforeUnload = (event: BeforeUnloadEvent): void => {
    // Ask the user only if leaving would lose text that is neither on the server nor in a draft.
    if (!savers.isSafe()) event.preventDefault();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('pagehide', persist);
  addEventListener('online', retry);
  // A retry without a network fails at once, and the status line then says that the page is offline.
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

/** The drafts of a user in their database. IndexedDB runs changes of one store in the order in which they are requested. */
export const createOutbox = (database: UserDatabase, tabs: Pick<Tabs, 'aliveWriters'>): Outbox => ({
  readAll: () => database.use((connection) => connection.getAll('drafts')),
  put: (draft) => database.use((connection) => connection.put('drafts', draft)),
  remove: (date, writer) => database.use((connection) => connection.delete('drafts', [date, writer])),
  close: () => database.close(),
  aliveWriters: () => tabs.aliveWriters(),
});
