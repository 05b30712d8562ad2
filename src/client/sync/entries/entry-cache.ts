import type { QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';
import type { LocalCopies } from '../store/local-copies.ts';

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
