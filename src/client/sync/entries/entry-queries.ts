import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { EntryTransport, Failure, StoredLog } from '../save-requests.ts';
import type { LocalCopies } from '../store/local-copies.ts';

/**
 * `readAt` is when the request was sent: an answer is stale if a save was acknowledged since. An answer of the server
 * has no `seenAt`. In a copy that this device kept, `seenAt` is the time of the copied answer; null without a copy.
 */
export type ReadEntry = { stored: StoredLog | null; readAt: number; seenAt?: number | null };

/** The prefix of every `entryKey`. */
export const ENTRY_KEY = ['entry'] as const;
export const entryKey = (date: Day) => [...ENTRY_KEY, date] as const;

export class EntryReadError extends Error {
  override name = 'EntryReadError';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** True if the server says that the plan locks the day. The plan known to the page may be stale. */
export const isLockedError = (error: Error | null): boolean =>
  error instanceof EntryReadError && error.failure.kind === 'locked';

type EntrySource = { transport: EntryTransport; copies: LocalCopies; draftsLoaded: Promise<void> };

/** True without a usable answer: the network failed, the server was busy, or a proxy answered. */
export const isUnreachableError = (error: Error | null): boolean =>
  error instanceof EntryReadError && error.failure.kind === 'unreachable';

/** Shows the copy of an earlier answer, if this device kept one, until the server answers. */
export const entryQuery = ({ transport, copies, draftsLoaded }: EntrySource, date: Day) =>
  queryOptions({
    queryKey: entryKey(date),
    queryFn: async ({ client }): Promise<ReadEntry> => {
      const readAt = Date.now();
      const reading = transport.read(date);
      let isAnswered = false;
      const showCopy = async (): Promise<void> => {
        const [seen] = await Promise.all([copies.readDay(date), draftsLoaded]);
        if (isAnswered || !seen || client.getQueryData(entryKey(date))) return;
        client.setQueryData<ReadEntry>(entryKey(date), { stored: seen.stored, readAt: 0, seenAt: seen.seenAt });
      };
      void showCopy();
      const outcome = await reading;
      isAnswered = true;
      if (outcome.kind === 'locked') void copies.pruneDays((day) => day.date !== date);
      if (outcome.kind !== 'read') throw new EntryReadError(outcome);
      void copies.storeDay(date, outcome.stored);
      return { stored: outcome.stored, readAt };
    },
    // Send the request even if the browser reports to be offline, so that a failed load shows an error.
    networkMode: 'always',
    retry: (count, error) => count < 1 && error instanceof EntryReadError && error.failure.kind === 'unreachable',
    refetchOnWindowFocus: 'always',
    // `networkMode: 'always'` disables this by default. A day that failed to load is refetched once the network is
    // back.
    refetchOnReconnect: true,
  });

/** The prefix of every query key whose result depends on the entries of many days. */
export const ENTRY_CACHE_KEY = ['entries'] as const;

/** The key of the query in entry-dates.ts, and of its copy on this device. */
export const DATES_KEY = ['entry-dates'] as const;

/** Adds or removes a date without a request, also in the copy on this device. The time of the last read stays the same. */
export function setDateStored(
  queries: QueryClient,
  copies: Pick<LocalCopies, 'storeCopy'>,
  date: Day,
  isStored: boolean,
): void {
  const { data: dates, dataUpdatedAt: updatedAt = 0 } = queries.getQueryState<Day[]>(DATES_KEY) ?? {};
  if (!dates || dates.includes(date) === isStored) return;
  const changed = isStored ? [...dates, date].sort().reverse() : dates.filter((other) => other !== date);
  queries.setQueryData(DATES_KEY, changed, { updatedAt });
  void copies.storeCopy(DATES_KEY[0], changed, updatedAt);
}

/** Call after a day changes. Refetches active queries and removes inactive ones, which would show stale results. */
export function invalidateEntryCache(queries: QueryClient): void {
  queries.removeQueries({ queryKey: ENTRY_CACHE_KEY, type: 'inactive' });
  void queries.invalidateQueries({ queryKey: ENTRY_CACHE_KEY });
}
