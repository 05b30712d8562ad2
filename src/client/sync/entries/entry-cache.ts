/** What the screens have read of many days at once, and when they have to read it again. */
import type { QueryClient } from '@tanstack/react-query';

/** Begins the key of everything that is read of many days. */
export const DAYS_READ_KEY = ['days-read'] as const;

/**
 * For whoever changes a day. What is on the screen is read again; the rest is forgotten, so that nobody comes back to
 * numbers that were true before.
 */
export function forgetDaysRead(queries: QueryClient): void {
  queries.removeQueries({ queryKey: DAYS_READ_KEY, type: 'inactive' });
  void queries.invalidateQueries({ queryKey: DAYS_READ_KEY });
}
