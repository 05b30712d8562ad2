/** What the journal reads of one day. */
import { queryOptions } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { EntryTransport, Failure, StoredLog } from '../save-outcome.ts';

/** `askedAt` tells an answer that was on its way while a save was acknowledged. */
export type ReadEntry = { stored: StoredLog | null; askedAt: number };

export const entryKey = (date: Day) => ['entry', date] as const;

class EntryReadError extends Error {
  override name = 'EntryReadError';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** The plan does not open the day, whatever the page believes. */
export const saysLocked = (error: Error | null): boolean =>
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
    // A browser that believes to be offline still asks: a day that cannot be loaded must say so.
    networkMode: 'always',
    retry: (count, error) => count < 1 && error instanceof EntryReadError && error.failure.kind === 'unreachable',
    refetchOnWindowFocus: 'always',
    // `networkMode: 'always'` would switch this off: a day that did not load comes by itself once there is a network.
    refetchOnReconnect: true,
  });
