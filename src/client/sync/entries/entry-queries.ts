import { queryOptions } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { EntryTransport, Failure, StoredLog } from '../save-requests.ts';

/** `askedAt` is when the request was sent: an answer is stale if a save was acknowledged since. */
export type ReadEntry = { stored: StoredLog | null; askedAt: number };

/** The prefix of every `entryKey`. */
export const ENTRY_KEY = ['entry'] as const;
export const entryKey = (date: Day) => [...ENTRY_KEY, date] as const;

class EntryReadError extends Error {
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

export const entryQuery = (transport: EntryTransport, date: Day) =>
  queryOptions({
    queryKey: entryKey(date),
    queryFn: async (): Promise<ReadEntry> => {
      const askedAt = Date.now();
      const outcome = await transport.read(date);
      if (outcome.kind !== 'read') throw new EntryReadError(outcome);
      return { stored: outcome.stored, askedAt };
    },
    // Send the request even if the browser reports to be offline, so that a failed load shows an error.
    networkMode: 'always',
    retry: (count, error) => count < 1 && error instanceof EntryReadError && error.failure.kind === 'unreachable',
    refetchOnWindowFocus: 'always',
    // `networkMode: 'always'` disables this by default. A day that failed to load is refetched once the network is
    // back.
    refetchOnReconnect: true,
  });
