/** Searches the server and the unsaved drafts. The query is debounced, and a superseded request is aborted. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { entryText } from '#domain/log/entry-text.ts';
import { toSearchForm, toSearchPattern, createSnippet, parseSearchTerms } from '#domain/find/match-search.ts';
import type { FindAnswer, SearchTerm, TextPart } from '#domain/find/match-search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';

const DEBOUNCE_MS = 180;
/** The first search of a journal indexes older logs in steps; polls until that is complete. */
const INDEXING_POLL_MS = 500;

/** A draft in this browser that the server may not have. */
export type UnsavedLog = { date: Day; html: string };

export type FoundLog = { date: Day; snippet: readonly TextPart[]; unsaved: boolean };

export type SearchState = {
  words: readonly SearchTerm[];
  /** Newest first. Holds the previous results while a new query is pending. */
  found: readonly FoundLog[];
  state: 'idle' | 'busy' | 'done' | 'failed' | 'offline';
  /** True if there are more matches on older days. */
  more: boolean;
  /** False while older logs are being indexed. */
  complete: boolean;
  /** The server's error message. */
  reason: string | null;
  retry: () => void;
};

type Answer = Extract<FindAnswer, { success: true }>;

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

  const request = useQuery({
    queryKey: ['find', debouncedQuery],
    queryFn: async ({ signal }): Promise<Answer> => {
      const answer = (await callFunction('find-entries', { query: debouncedQuery }, signal)) as FindAnswer;
      if (!answer.success) throw new FindRejected(answer.error);
      return answer;
    },
    enabled: debouncedWords.length > 0,
    placeholderData: (before) => before,
    // Caches only briefly, for queries that are typed and deleted again.
    staleTime: 5_000,
    gcTime: 30_000,
    retry: false,
    networkMode: 'always',
    refetchOnWindowFocus: false,
    refetchOnReconnect: true,
    refetchInterval: ({ state }) => (state.data?.complete === false ? INDEXING_POLL_MS : false),
  });

  const isIdle = words.length === 0;
  const answer = isIdle || debouncedWords.length === 0 || request.isError ? undefined : request.data;
  return {
    words,
    found:
      isIdle || debouncedWords.length === 0
        ? []
        : mergeResults(debouncedWords, unsaved, answer, (date) => !isLocked(date, premium !== false, today)),
    state: stateOf(isIdle, debouncedQuery !== query.trim() || request.isPlaceholderData, request),
    more: answer?.more ?? false,
    complete: answer?.complete ?? true,
    reason: request.error instanceof FindRejected ? request.error.message : null,
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
    const form = toSearchForm(text);
    return words.every((word) => form.includes(toSearchPattern(word)))
      ? [{ date, snippet: createSnippet(words, text), unsaved: true }]
      : [];
  });
  const remote = (answer?.results ?? [])
    .filter(({ date }) => !days.has(date) && isOpen(date as Day))
    .map(({ date, snippet }) => ({ date: date as Day, snippet, unsaved: false }));
  return [...local, ...remote].sort((a, b) => (a.date < b.date ? 1 : -1));
}

function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
