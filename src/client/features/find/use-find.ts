/**
 * Searches the server and the unsaved drafts; if the server cannot be reached, the copies on this device. The query is
 * debounced, and a superseded request is aborted.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { entryText } from '#domain/log/entry-text.ts';
import {
  addTags,
  completeTag,
  countTags,
  listTags,
  MAX_TAGS_SHOWN,
  typedTag,
  type TagCount,
} from '#domain/log/tags.ts';
import {
  createSnippet,
  matchesSearch,
  parseSearchTerms,
  FIND_MAX_RESULTS,
  type FindAnswer,
  type SearchTerm,
  type TextPart,
  type FoundDay,
} from '#domain/match-search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import type { SeenDay } from '#client/sync/store/user-database.ts';

const DEBOUNCE_MS = 180;
/** The first search of a journal indexes older logs in steps; polls until that is complete. */
const INDEXING_POLL_MS = 500;
/** Longer than the server takes for the first search of a long journal. */
const SERVER_TIMEOUT_MS = 10_000;

/** A draft in this browser that the server may not have. */
export type UnsavedLog = { date: Day; html: string };

export type FoundLog = { date: Day; snippet: readonly TextPart[]; unsaved: boolean };

export type SearchState = {
  words: readonly SearchTerm[];
  /** Newest first. Holds the previous results while a new query is pending. */
  found: readonly FoundLog[];
  /** Tags that complete the one at the end of the query; all tags for an empty query. Null until they are known. */
  tags: readonly TagCount[] | null;
  state: 'idle' | 'busy' | 'done' | 'failed' | 'offline';
  /** True if there are more matches on older days. */
  more: boolean;
  /** False while older logs are being indexed. */
  complete: boolean;
  /** How many days of this device were searched because the server could not be reached; otherwise null. */
  daysSearchedHere: number | null;
  /** The server's error message. */
  reason: string | null;
  retry: () => void;
};

type Answer = Extract<FindAnswer, { success: true }> & {
  /** The days of this device that were searched, if the server could not be reached. */
  searched?: readonly Day[];
};

class FindRejected extends Error {
  override name = 'FindRejected';
}

export function useFind(query: string, unsaved: readonly UnsavedLog[]): SearchState {
  const { callFunction } = useSupabase();
  const premium = usePremium();
  const today = useToday();
  const debouncedQuery = useDebounced(query.trim());
  const words = parseSearchTerms(query);
  const debouncedWords = parseSearchTerms(debouncedQuery);
  const tag = typedTag(query.trim());
  const debouncedTag = typedTag(debouncedQuery);
  const copies = useLocalCopies();

  const searchServer = async (signal: AbortSignal): Promise<Answer> => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(SERVER_TIMEOUT_MS)]);
    const answer = (await callFunction('find-entries', { query: debouncedQuery }, limited)) as FindAnswer;
    if (!answer.success) throw new FindRejected(answer.error);
    return answer;
  };
  const searchHere = async (): Promise<Answer> => {
    // While the plan is unknown, only the days that every plan opens.
    const isOpen = (date: Day): boolean => !isLocked(date, premium === true, today);
    const days = (await copies?.readDays()) ?? [];
    const found = searchCopies(days, debouncedWords, isOpen);
    const searched = [...new Set([...found.searched, ...unsaved.map(({ date }) => date)])];
    const tags = debouncedTag === null ? [] : completeTag(debouncedTag, tagsOfCopies(days, unsaved, isOpen));
    return { success: true, complete: true, ...found, searched, tags: tags.slice(0, MAX_TAGS_SHOWN) };
  };

  const request = useQuery({
    // `searchHere` skips the days that the plan locks, so its results depend on the plan.
    queryKey: ['find', debouncedQuery, premium],
    queryFn: async ({ signal }): Promise<Answer> => {
      try {
        return await searchServer(signal);
      } catch (error) {
        if (signal.aborted || error instanceof FindRejected) throw error;
        const answer = await searchHere();
        if (answer.searched?.length === 0) throw error;
        return answer;
      }
    },
    enabled: debouncedWords.length > 0 || debouncedTag !== null,
    placeholderData: (before) => before,
    // Caches only briefly, for queries that are typed and deleted again. Results of `searchHere` are stale at once: the
    // server is asked again as soon as the connection returns.
    staleTime: ({ state }) => (state.data?.searched ? 0 : 5_000),
    gcTime: 30_000,
    retry: false,
    networkMode: 'always',
    refetchOnWindowFocus: false,
    refetchOnReconnect: true,
    refetchInterval: ({ state }) => (state.data?.complete === false ? INDEXING_POLL_MS : false),
  });

  const isIdle = words.length === 0;
  const hasWords = words.length > 0 && debouncedWords.length > 0;
  const answer = request.isError || (!hasWords && tag === null) ? undefined : request.data;
  return {
    words,
    // While the answer is under way, the tags of the previous one are narrowed.
    tags: tag === null ? [] : answer?.tags ? completeTag(tag, addTags(answer.tags, tagsOf(unsaved))) : null,
    found: hasWords
      ? mergeResults(debouncedWords, unsaved, answer, (date) => !isLocked(date, premium !== false, today))
      : [],
    state: stateOf(isIdle, debouncedQuery !== query.trim() || request.isPlaceholderData, request),
    more: hasWords && (answer?.more ?? false),
    complete: answer?.complete ?? true,
    daysSearchedHere: answer?.searched?.length ?? null,
    reason: request.error instanceof FindRejected ? request.error.message || null : null,
    retry: () => void request.refetch(),
  };
}

function stateOf(
  isIdle: boolean,
  typing: boolean,
  request: { isError: boolean; isPending: boolean },
): SearchState['state'] {
  if (isIdle) return 'idle';
  if (request.isError && !typing) return navigator.onLine ? 'failed' : 'offline';
  return typing || request.isPending ? 'busy' : 'done';
}

/**
 * A day with a draft is matched by the draft, not by the server's version. The server includes days that are open in
 * any time zone; in the user's time zone the oldest of these days may be locked.
 */
function mergeResults(
  words: readonly SearchTerm[],
  unsaved: readonly UnsavedLog[],
  answer: Answer | undefined,
  isOpen: (date: Day) => boolean,
): FoundLog[] {
  const days = new Set<string>(unsaved.map(({ date }) => date));
  const local = unsaved.flatMap(({ date, html }) => {
    const text = entryText(html);
    return matchesSearch(words, text) ? [{ date, snippet: createSnippet(words, text), unsaved: true }] : [];
  });
  const remote = (answer?.results ?? [])
    .filter(({ date }) => !days.has(date) && isOpen(date as Day))
    .map(({ date, snippet }) => ({ date: date as Day, snippet, unsaved: false }));
  return [...local, ...remote].sort((a, b) => (a.date < b.date ? 1 : -1));
}

const tagsOf = (logs: readonly UnsavedLog[]): TagCount[] =>
  countTags(logs.map(({ html }) => listTags(entryText(html))));

function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}

/** Unsaved text replaces the copy of its day. Copies of days that the plan locks are left out. */
function tagsOfCopies(
  copies: readonly SeenDay[],
  unsaved: readonly UnsavedLog[],
  isOpen: (date: Day) => boolean,
): TagCount[] {
  const logs = new Map(copies.flatMap(({ date, stored }) => (stored && isOpen(date) ? [[date, stored.html]] : [])));
  for (const { date, html } of unsaved) logs.set(date, html);
  return tagsOf([...logs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([date, html]) => ({ date, html })));
}

// Searches the copies of days on this device, for when the server cannot be reached. Same rules as the server's search.

type CopiesAnswer = { results: FoundDay[]; more: boolean; searched: readonly Day[] };

/**
 * Threat: the plan has ended, and the device still has copies of days that it no longer opens. `isOpen` leaves them
 * out, of the results and of the days that count as searched.
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
