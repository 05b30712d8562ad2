/**
 * Brings a change that was made elsewhere to the page: the open day is read again through its query, and the dates of
 * the calendar follow without a request. A change made by this page is known already and causes no request.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { DayChange } from '#domain/live-event.ts';
import type { Timers } from '../day-saver/day-saver.ts';
import type { DaySavers } from '../day-savers.ts';
import { DATES_KEY, invalidateEntryCache, setDateStored } from '../entries/entry-cache.ts';
import { ENTRY_KEY, entryKey, isUnreachableError } from '../entries/entry-queries.ts';
import type { StoredLog } from '../save-requests.ts';
import type { LocalCopies } from '../store/local-copies.ts';

/** The answer to a read is not shown while an input method is composing; the day is then read again. */
const RECHECK_MS = 1_000;
const MAX_RECHECKS = 5;

type Deps = { savers: DaySavers; copies: Pick<LocalCopies, 'storeCopy'>; queries: QueryClient; timers: Timers };

export function createRemoteChanges({ savers, copies, queries, timers }: Deps) {
  /** The newest change of each day that waits for the day's own save. */
  const waiting = new Map<Day, DayChange>();
  const unsubscribe = savers.subscribe(() => {
    for (const date of waiting.keys()) refetchUnlessKnown(date);
  });
  let isClosed = false;
  let catchUps = 0;

  function refetchUnlessKnown(date: Day): void {
    const change = waiting.get(date);
    // The save in flight shows whether the change is this page's own. Unsaved text is compared when it is sent.
    if (!change || savers.getUnsaved(date)) return;
    waiting.delete(date);
    setDateStored(queries, copies, date, change.stored);
    const saver = savers.get(date);
    // During a read the shown log proves nothing: it may be a copy on this device, and the server may have answered the
    // read before the change.
    const isReading = queries.isFetching({ queryKey: entryKey(date) }) > 0;
    if (saver && !isReading && isKnown(saver.view().stored, change)) return;
    invalidateEntryCache(queries);
    void readAgain(change, 0);
  }

  async function readAgain(change: DayChange, rechecks: number): Promise<void> {
    const { date } = change;
    await queries.invalidateQueries({ queryKey: entryKey(date) });
    const isShown =
      queries
        .getQueryCache()
        .find({ queryKey: entryKey(date) })
        ?.isActive() === true;
    if (!isShown || rechecks === MAX_RECHECKS) return;
    recheck(change, rechecks);
  }

  function recheck(change: DayChange, rechecks: number): void {
    timers.after(RECHECK_MS, () => {
      const saver = savers.get(change.date);
      if (isClosed || !saver || saver.view().unsaved || isKnown(saver.view().stored, change)) return;
      // On a phone a word may stay composed for hours, so wait for its end without a request.
      if (saver.isComposing()) recheck(change, rechecks);
      else void readAgain(change, rechecks + 1);
    });
  }

  /** No event names the changes that were missed, so a day without an answer would go on showing its old text. */
  async function readOpenDays(catchUp: number, rechecks: number): Promise<void> {
    await queries.invalidateQueries({ queryKey: ENTRY_KEY });
    const open = queries.getQueryCache().findAll({ queryKey: ENTRY_KEY, type: 'active' });
    if (rechecks === MAX_RECHECKS || !open.some(({ state }) => isUnreachableError(state.error))) return;
    timers.after(RECHECK_MS, () => {
      if (!isClosed && catchUp === catchUps) void readOpenDays(catchUp, rechecks + 1);
    });
  }

  return {
    apply(change: DayChange): void {
      waiting.set(change.date, change);
      refetchUnlessKnown(change.date);
    },

    /** Reads everything again that is on screen. The rest is read when it is opened. */
    catchUp(): void {
      catchUps += 1;
      void readOpenDays(catchUps, 0);
      void queries.invalidateQueries({ queryKey: DATES_KEY });
      invalidateEntryCache(queries);
    },

    close(): void {
      isClosed = true;
      unsubscribe();
    },
  };
}

/** True if the page has this version of the day, or a newer one of the same row. */
function isKnown(stored: StoredLog | null, { stored: hasLog, id, revision }: DayChange): boolean {
  if (!hasLog) return stored === null;
  return stored !== null && revision !== undefined && stored.id === id && stored.revision >= revision;
}
