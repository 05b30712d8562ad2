/** Holds one saver for each opened day, so a day continues to save after the user opens another one. */
import type { Day } from '#domain/day/day.ts';
import type { DayDrafts } from '#client/sync/day-drafts.ts';
import { createDaySaver, type DaySaver, type Timers } from './day-saver/day-saver.ts';
import type { MergeLoader } from './merge-loader.ts';
import type { EntryTransport, StoredLog } from './save-requests.ts';

export type DaySaversOptions = {
  transport: EntryTransport;
  timers: Timers;
  merger: MergeLoader;
  drafts: DayDrafts;
  /** Runs one takeover of drafts at a time among the tabs of this browser. */
  takeOverInTurn?: (run: () => Promise<void>) => Promise<void>;
  isOnline: () => boolean;
  isHidden: () => boolean;
  onStored: (date: Day, stored: StoredLog | null) => void;
  /** A save of this page has deleted a day's log, whose text was `html`. */
  onRemoved?: (date: Day, html: string) => void;
};

const SEND_LIMIT_MS = 5_000;

export type DaySavers = ReturnType<typeof createDaySavers>;

export function createDaySavers(options: DaySaversOptions) {
  const { transport, timers, merger, drafts, isOnline, isHidden, onStored, onRemoved } = options;
  const { takeOverInTurn = (run) => run() } = options;
  const savers = new Map<Day, DaySaver>();
  const listeners = new Set<() => void>();
  /** Replaced only when it changes: `useSyncExternalStore` compares by identity. */
  let unsavedDays: readonly Day[] = [];
  /** True once `recover` has run. Only then is it known which drafts belong to open tabs, which send them. */
  let hasRecovered = false;

  function updateUnsavedDays(): void {
    const own = allSavers().flatMap((saver) => (saver.view().unsaved ? saver.date : []));
    const now = [...new Set([...own, ...(hasRecovered ? drafts.abandonedDays() : [])])];
    if (now.join() !== unsavedDays.join()) unsavedDays = now;
    // Notifies even if the list is the same: a day that is saved now may have a draft of a closed tab.
    for (const listener of listeners) listener();
  }

  function createSaver(date: Day, stored: StoredLog | null, isReadable = true, evenOpen = false): DaySaver {
    const saver = createDaySaver({
      date,
      stored,
      transport,
      timers,
      merger,
      isOnline,
      isHidden,
      drafts: { store: (draft) => drafts.store(date, draft), drop: () => drafts.drop(date) },
      onStored: (now) => onStored(date, now),
      onRemoved: (html) => onRemoved?.(date, html),
    });
    saver.subscribe(updateUnsavedDays);
    savers.set(date, saver);
    claimDrafts(saver, isReadable, evenOpen);
    if (drafts.hasOthers(date, evenOpen)) void claimOtherDrafts(saver, isReadable, evenOpen);
    return saver;
  }

  function claimDrafts(saver: DaySaver, isReadable: boolean, evenOpen: boolean): void {
    // The draft would replace the word that the user is composing. The next takeover claims it.
    if (saver.isComposing()) return;
    const draft = drafts.claim(saver.date, merger.loaded()?.mergeLogs ?? null, evenOpen);
    if (draft) saver.restore(draft, isReadable);
  }

  /** Merges the drafts of other pages. If the merge cannot be loaded, they stay for a later takeover. */
  async function claimOtherDrafts(saver: DaySaver, isReadable: boolean, evenOpen: boolean): Promise<void> {
    if (!(await merger.load())) return;
    saver.storeDraft();
    claimDrafts(saver, isReadable, evenOpen);
  }

  /**
   * Restores and sends the drafts that a crash or a closed tab left, except on a day with unsaved text, whose drafts
   * wait. The draft of a day that is now locked is restored and stays unsent. `only` limits this to one day. With
   * `evenOpen`, takes over the drafts of open tabs too.
   */
  const recover = (only?: Day, evenOpen = false): Promise<void> =>
    takeOverInTurn(async () => {
      await drafts.load();
      // The newest day first: it is the one most likely to be opened next.
      for (const date of (evenOpen ? drafts.days() : drafts.abandonedDays()).toReversed()) {
        if (only === undefined || date === only) await recoverDay(date, evenOpen);
      }
      hasRecovered = true;
      updateUnsavedDays();
    });

  async function recoverDay(date: Day, evenOpen: boolean): Promise<void> {
    const saver = savers.get(date);
    if (!saver) {
      const outcome = await transport.read(date);
      // If the read failed, the draft stays until the next recovery, or until the day is opened.
      if (outcome.kind !== 'read' && outcome.kind !== 'locked') return;
      const stored = outcome.kind === 'read' ? outcome.stored : null;
      if (!savers.has(date)) createSaver(date, stored, outcome.kind === 'read', evenOpen);
      return;
    }
    // Wait for the merge: without it, the draft would replace the text of an open editor for a while.
    if (!drafts.hasOthers(date, evenOpen) || !(await merger.load())) return;
    if (!saver.view().unsaved) claimDrafts(saver, true, evenOpen);
  }

  const allSavers = (): DaySaver[] => [...savers.values()];

  return {
    /** Returns the day's saver. `stored` was read at `readAt`; an existing saver with a newer state ignores it. */
    open(date: Day, stored: StoredLog | null, readAt: number): DaySaver {
      const saver = savers.get(date);
      if (!saver) return createSaver(date, stored);
      saver.takeRow(stored, readAt);
      return saver;
    },

    /** Null if the merge cannot be loaded now. */
    loadMerge: async () => (await merger.load())?.mergeLogs ?? null,

    /** Null for a day that this page has not opened. */
    get: (date: Day): DaySaver | null => savers.get(date) ?? null,

    /** The saver of a day with unsaved text; such a day can be shown without a request. */
    getUnsaved(date: Day): DaySaver | null {
      const saver = savers.get(date);
      return saver?.view().unsaved ? saver : null;
    },

    /**
     * The saver of a day that cannot be read, with the draft that a closed page left. The first attempt to save
     * compares it with the row. Null without unsaved text.
     */
    openDraft(date: Day): DaySaver | null {
      if (!savers.has(date) && drafts.abandonedDays().includes(date)) createSaver(date, null);
      return this.getUnsaved(date);
    },

    /** Days with unsaved text of this page, or of a closed one whose draft could not be recovered yet. */
    unsavedDays: () => unsavedDays,

    /** Days with text that the server may not have: unsaved here, or in a draft of any tab. */
    unsentDays: (): Day[] => [...new Set([...unsavedDays, ...drafts.days()])].sort(),

    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    recover,

    /** Sends all unsaved text. Returns the days that could not be saved. */
    async flush(): Promise<Day[]> {
      const results = await Promise.all(
        allSavers().map(async (saver) => ({ date: saver.date, saved: await saver.flush() })),
      );
      return results.filter((result) => !result.saved).map((result) => result.date);
    },

    /**
     * Sends all unsaved text and the drafts of closed pages, with `evenOpen` also those of open ones. Returns the days
     * that are still unsent, after five seconds at the latest, so that a dead connection does not block the caller.
     */
    async sendAll(evenOpen = false): Promise<Day[]> {
      const limit = new Promise((resolve) => timers.after(SEND_LIMIT_MS, () => resolve(null)));
      await Promise.race([recover(undefined, evenOpen).then(() => this.flush()), limit]);
      return this.unsentDays();
    },

    /** `sendAll` for a sign-out: also retries failed saves, and sends the drafts of other tabs. */
    async sendBeforeSignOut(): Promise<Day[]> {
      this.retry();
      return this.sendAll(true);
    },

    retry: () => void allSavers().map((saver) => saver.retry()),

    /** Stores and sends all unsaved text, because the page may be closed at any moment. */
    persist(): void {
      for (const saver of allSavers()) {
        saver.storeDraft();
        void saver.flush();
      }
    },

    /** Stores all unsaved text in drafts. False while any text is neither on the server nor in a draft. */
    isSafe: () => allSavers().filter((saver) => !saver.storeDraft()).length === 0,

    close: () => allSavers().forEach((saver) => saver.close()),

    /**
     * True if any text is newer than a sign-out that asked about unsent text at `at`. Schedules a new draft of such
     * text.
     */
    redraftIfNewer: (at: number): boolean => allSavers().filter((saver) => saver.redraftIfNewer(at)).length > 0,

    /** The user has signed out and all local copies are deleted: no later call may store a draft. */
    discard(): void {
      drafts.close();
      this.close();
    },
  };
}
