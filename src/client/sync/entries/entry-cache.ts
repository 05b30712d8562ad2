import type { QueryClient } from '@tanstack/react-query';

/** The prefix of every query key whose result depends on the entries of many days. */
export const ENTRY_CACHE_KEY = ['entries'] as const;

/** Call after a day changes. Refetches active queries and removes inactive ones, which would show stale numbers. */
export function invalidateEntryCache(queries: QueryClient): void {
  queries.removeQueries({ queryKey: ENTRY_CACHE_KEY, type: 'inactive' });
  void queries.invalidateQueries({ queryKey: ENTRY_CACHE_KEY });
}
