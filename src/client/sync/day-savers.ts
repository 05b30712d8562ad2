/** The savers of all days that were opened: a day that was left goes on saving, whatever the screen shows by then. */
import type { Day } from '#domain/day/day.ts';
import type { DayDrafts } from '#client/sync/day-drafts.ts';
import { createDaySaver } from './day-saver/day-saver.ts';
import type { DaySaver, Timers } from './day-saver/day-saver.ts';
import { mergeLogs } from './log-lines.ts';
import type { EntryTransport, StoredLog } from './save-outcome.ts';

export type DaySaversOptions = {
  transport: EntryTransport;
  timers: Timers;
  drafts: DayDrafts;
  isOnline: () => boolean;
  onStored: (date: Day, stored: StoredLog | null) => void;
};

const SEND_LIMIT_MS = 5_000;

export type DaySavers = ReturnType<typeof createDaySavers>;

export function createDaySavers({ transport, timers, drafts, isOnline, onStored }: DaySaversOptions) {
  const savers = new Map<Day, DaySaver>();
  const listeners = new Set<() => void>();
  /** Kept as one array until it changes, so that a screen can compare it. */
  let unsavedDays: readonly Day[] = [];

  function show(): void {
    const now = [...savers.values()].filter((saver) => saver.view().unsaved).map((saver) => saver.date);
    if (now.join() === unsavedDays.join()) return;
    unsavedDays = now;
    for (const listener of listeners) listener();
  }

  function make(date: Day, stored: StoredLog | null, readable = true): DaySaver {
    const saver = createDaySaver({
      date,
      stored,
      transport,
      timers,
      isOnline,
      drafts: { keep: (draft) => drafts.keep(date, draft), drop: () => drafts.drop(date) },
      onStored: (now) => onStored(date, now),
    });
    saver.subscribe(show);
    savers.set(date, saver);
    const draft = drafts.take(date, mergeLogs);
    if (draft) saver.restore(draft, readable);
    return saver;
  }

  const all = (): DaySaver[] => [...savers.values()];

  return {
    /** The saver of a day that was read at `askedAt`; the one that is there already keeps what it knows better. */
    open(date: Day, stored: StoredLog | null, askedAt: number): DaySaver {
      const saver = savers.get(date);
      if (!saver) return make(date, stored);
      saver.offer(stored, askedAt);
      return saver;
    },

    /** The saver of a day that was opened before. */
    opened: (date: Day): DaySaver | null => savers.get(date) ?? null,

    /** The log of a day now stands at another one. Both know it at once, and no answer of before undoes that. */
    moved(from: Day, to: Day, log: StoredLog): void {
      for (const [date, stored] of [
        [from, null],
        [to, log],
      ] as const) {
        const saver = savers.get(date) ?? make(date, stored);
        if (!saver.view().unsaved) saver.replaceWith(stored);
      }
    },

    /** Adds what waits at a day to the day that its log was moved to. False when that day cannot be read now. */
    async addToMoved(date: Day): Promise<boolean> {
      const saver = savers.get(date);
      const conflict = saver?.view().conflict;
      if (!saver || !conflict?.moved) return false;
      const askedAt = timers.now();
      const outcome = await transport.read(conflict.moved.date);
      if (outcome.kind !== 'read') return false;
      const target = this.open(conflict.moved.date, outcome.stored, askedAt);
      target.write(saver.mergedWith(target.text()), 0);
      // The words must be in this draft before the other one goes.
      target.keepDraft();
      saver.takeTheirs();
      return true;
    },

    /** A day with words that the server does not have can be shown without asking it. */
    withUnsaved(date: Day): DaySaver | null {
      const saver = savers.get(date);
      return saver?.view().unsaved ? saver : null;
    },

    unsavedDays: () => unsavedDays,

    /** The one rule for what is unsent: words that the server may not have, unsaved here or in a draft of any tab. */
    unsentDays: (): Day[] => [...new Set([...unsavedDays, ...drafts.days()])].sort(),

    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /**
     * Saves what a crash or a closed tab left in this browser, also for days that nobody opens now. The words of a day
     * that the plan has closed meanwhile are shown and wait.
     */
    async recover(only?: Day): Promise<void> {
      for (const date of drafts.days()) {
        if (savers.has(date) || (only !== undefined && date !== only)) continue;
        const outcome = await transport.read(date);
        if (savers.has(date)) continue;
        // Not readable now: the draft stays, and opening the day tries again.
        if (outcome.kind === 'read') make(date, outcome.stored);
        else if (outcome.kind === 'locked') make(date, null, false);
      }
    },

    /** Sends everything that is unsaved. The days that could not be saved are the answer. */
    async flush(): Promise<Day[]> {
      const results = await Promise.all(all().map(async (saver) => ({ date: saver.date, saved: await saver.flush() })));
      return results.filter((result) => !result.saved).map((result) => result.date);
    },

    /**
     * Sends everything that waits in this browser, also what an earlier page left. The days that are still not saved are
     * the answer, after five seconds at the latest: what is asked for then does not wait for a dead connection.
     */
    async sendAll(): Promise<Day[]> {
      const limit = new Promise((resolve) => timers.after(SEND_LIMIT_MS, () => resolve(null)));
      await Promise.race([this.recover().then(() => this.flush()), limit]);
      return this.unsentDays();
    },

    /**
     * `sendAll` for a user who signs out: what an error has stopped is tried again, and drafts of other tabs are sent from
     * here, because nobody else may be left to do it.
     */
    async sendBeforeSignOut(): Promise<Day[]> {
      for (const date of drafts.days()) {
        const saver = savers.get(date);
        if (!saver || saver.view().unsaved) continue;
        const draft = drafts.take(date, mergeLogs);
        if (draft) saver.restore(draft);
      }
      this.retry();
      return this.sendAll();
    },

    retry: () => void all().map((saver) => saver.retry()),

    /** For a page that may be gone in a moment. */
    hide(): void {
      for (const saver of all()) {
        saver.keepDraft();
        void saver.flush();
      }
    },

    /** False while something is neither on the server nor in a draft. */
    isSafe: () => all().every((saver) => saver.keepDraft() && saver.isSafe()),

    close: () => all().forEach((saver) => saver.close()),

    /** Whether words were typed after a user who signed out was asked about unsent ones. They are kept. */
    keepNewerThan: (at: number): boolean => all().filter((saver) => saver.keepNewerThan(at)).length > 0,
    /** The user has signed out and every local copy is wiped: nothing here may write one again. */
    forget(): void {
      drafts.close();
      this.close();
    },
  };
}
