/** Searches the copies of days on this device, for when the server cannot be reached. Same rules as the server's search. */
import type { Day } from '#domain/day/day.ts';
import {
  createSnippet,
  FIND_MAX_RESULTS,
  matchesSearch,
  type FoundDay,
  type SearchTerm,
} from '#domain/match-search.ts';
import { entryText } from '#domain/log/entry-text.ts';
import type { SeenDay } from '#client/sync/store/user-database.ts';

export type CopiesAnswer = { results: FoundDay[]; more: boolean; searched: readonly Day[] };

/**
 * Threat: the plan has ended, and the device still has copies of days that it no longer opens. `isOpen` leaves them out,
 * of the results and of the days that count as searched.
 */
export function searchCopies(
  copies: readonly SeenDay[],
  terms: readonly SearchTerm[],
  isOpen: (date: Day) => boolean,
): CopiesAnswer {
  const logs = copies
    .flatMap(({ date, stored }) => (stored && isOpen(date) ? [{ date, text: entryText(stored.html) }] : []))
    .sort((a, b) => (a.date < b.date ? 1 : -1));
  const matches = logs.filter(({ text }) => matchesSearch(terms, text));
  return {
    results: matches
      .slice(0, FIND_MAX_RESULTS)
      .map(({ date, text }) => ({ date, snippet: createSnippet(terms, text) })),
    more: matches.length > FIND_MAX_RESULTS,
    searched: logs.map(({ date }) => date),
  };
}
