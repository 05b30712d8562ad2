import type { QueryClient } from '@tanstack/react-query';
import type { Day } from '#domain/day/day.ts';

/** The prefix of every query key whose result depends on the entries of many days. */
export const ENTRY_CACHE_KEY = ['entries'] as const;

/** The query of entry-dates.ts. */
export const DATES_KEY = ['entry-dates'] as const;

/** Adds or removes a date without a request. */
export function setDateStored(queries: QueryClient, date: Day, isStored: boolean): void {
  queries.setQueryData<Day[]>(DATES_KEY, (dates) => {
    if (!dates || dates.includes(date) === isStored) return dates;
    return isStored ? [...dates, date].sort().reverse() : dates.filter((other) => other !== date);
  });
}

/** Call after a day changes. Refetches active queries and removes inactive ones, which would show stale numbers. */
export function invalidateEntryCache(queries: QueryClient): void {
  queries.removeQueries({ queryKey: ENTRY_CACHE_KEY, type: 'inactive' });
  void queries.invalidateQueries({ queryKey: ENTRY_CACHE_KEY });
}
