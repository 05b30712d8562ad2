/** What is found for what is typed: asked for shortly after the last key, the question before given up. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Day } from '#domain/day/day.ts';
import { entryText } from '#domain/log/entry-text.ts';
import { toSearchForm, toSearchPattern, createSnippet, parseSearchTerms } from '#domain/find/search.ts';
import type { FindAnswer, SearchTerm, TextPart } from '#domain/find/search.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { usePremium } from '#client/lib/plan/premium.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';

const PAUSE_MS = 180;
/** A journal that was never searched before is made ready in steps. */
const NEXT_STEP_MS = 500;

/** Words that this browser has and the server may not have yet. */
export type UnsavedLog = { date: Day; html: string };

export type FoundLog = { date: Day; snippet: readonly TextPart[]; unsaved: boolean };

export type Finding = {
  words: readonly SearchTerm[];
  /** Newest first. While something else is typed, still what was found before. */
  found: readonly FoundLog[];
  state: 'idle' | 'busy' | 'done' | 'failed' | 'offline';
  /** There are older days as well. */
  more: boolean;
  /** False while older logs are still being made ready. */
  complete: boolean;
  /** What the server said was wrong. */
  reason: string | null;
  retry: () => void;
};

type Answer = Extract<FindAnswer, { success: true }>;

class FindRefused extends Error {
  override name = 'FindRefused';
}

export function useFind(query: string, unsaved: readonly UnsavedLog[]): Finding {
  const { callFunction } = useSupabase();
  const premium = usePremium();
  const today = useToday();
  const sought = usePaused(query.trim());
  const words = parseSearchTerms(query);
  const asked = parseSearchTerms(sought);

  const asking = useQuery({
    queryKey: ['find', sought],
    queryFn: async ({ signal }): Promise<Answer> => {
      const answer = (await callFunction('find-entries', { query: sought }, signal)) as FindAnswer;
      if (!answer.success) throw new FindRefused(answer.error);
      return answer;
    },
    enabled: asked.length > 0,
    placeholderData: (before) => before,
    // A search shows what is there now; only the keys typed back and forth are answered twice from the same.
    staleTime: 5_000,
    gcTime: 30_000,
    retry: false,
    networkMode: 'always',
    refetchOnWindowFocus: false,
    refetchOnReconnect: true,
    refetchInterval: ({ state }) => (state.data?.complete === false ? NEXT_STEP_MS : false),
  });

  const idle = words.length === 0;
  const answer = idle || asked.length === 0 || asking.isError ? undefined : asking.data;
  return {
    words,
    found:
      idle || asked.length === 0
        ? []
        : merge(asked, unsaved, answer, (date) => !isLocked(date, premium !== false, today)),
    state: stateOf(idle, sought !== query.trim() || asking.isPlaceholderData, asking),
    more: answer?.more ?? false,
    complete: answer?.complete ?? true,
    reason: asking.error instanceof FindRefused ? asking.error.message : null,
    retry: () => void asking.refetch(),
  };
}

function stateOf(idle: boolean, typing: boolean, asking: { isError: boolean; isPending: boolean }): Finding['state'] {
  if (idle) return 'idle';
  if (asking.isError && !typing) return navigator.onLine ? 'failed' : 'offline';
  return typing || asking.isPending ? 'busy' : 'done';
}

/**
 * A day with unsaved words is judged by those, whatever the server still has of it. The server's days are those that are
 * open anywhere on Earth: where it is tomorrow already, the oldest of them is locked here.
 */
function merge(
  words: readonly SearchTerm[],
  unsaved: readonly UnsavedLog[],
  answer: Answer | undefined,
  isOpen: (date: Day) => boolean,
): FoundLog[] {
  const days = new Set<string>(unsaved.map(({ date }) => date));
  const here = unsaved.flatMap(({ date, html }) => {
    const text = entryText(html);
    const form = toSearchForm(text);
    return words.every((word) => form.includes(toSearchPattern(word)))
      ? [{ date, snippet: createSnippet(words, text), unsaved: true }]
      : [];
  });
  const there = (answer?.results ?? [])
    .filter(({ date }) => !days.has(date) && isOpen(date as Day))
    .map(({ date, snippet }) => ({ date: date as Day, snippet, unsaved: false }));
  return [...here, ...there].sort((a, b) => (a.date < b.date ? 1 : -1));
}

function usePaused(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}
