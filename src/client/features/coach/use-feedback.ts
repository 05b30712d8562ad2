/** The stored feedback on a day, and the request for a new one. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { isScore, type FeedbackResult } from '#domain/coach/coach.ts';
import type { ApiRow } from '#domain/database-rows.ts';
import type { Day } from '#domain/day/day.ts';
import { toCitations, labelLineNumbers, type Citation } from '#domain/coach/citations.ts';
import { invalidateEntryCache } from '#client/sync/entries/entry-queries.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { askCoach } from './coach-stream.ts';
import { useAnalysis } from './use-analysis.tsx';

/** `revision`: the revision of the log at the read; null without a log, and after an analysis until the next read. */
type DayFeedback = { hasLog: boolean; revision: number | null; feedback: StoredFeedback | null };

/** The state of the open day that the feedback panel needs. */
export type OpenLog = {
  /** The revision of the stored log; null without a stored log. */
  revision: number | null;
  /** True if the day has unsaved text. */
  unsaved: boolean;
  /** Saves the text; false if that failed. */
  flush: () => Promise<boolean>;
};

const NOT_SAVED =
  'Your latest changes are not saved yet, so the coach would read an earlier version of your log. Try again when they are saved.';

export function useFeedback(date: Day, log: OpenLog) {
  const data = useData();
  const user = useUser();
  const supabase = useSupabase();
  const queries = useQueryClient();
  const { view, run, cancel } = useAnalysis<FeedbackResult>(`${log.revision} ${log.unsaved}`);

  const stored = useQuery({
    queryKey: ['feedback', date],
    queryFn: async ({ signal }): Promise<DayFeedback> => {
      const [{ data: entry }, { data: analysis }] = await Promise.all([
        data
          .from('entries')
          .select('ai_feedback, hustle_score, ai_analyzed_at, updated_at, revision')
          .eq('user_id', user.id)
          .eq('date', date)
          .abortSignal(signal)
          .maybeSingle()
          .throwOnError(),
        data
          .from('analyses')
          .select('text, cited, cited_refs, missing_fact, created_at')
          .eq('user_id', user.id)
          .eq('kind', 'feedback')
          .eq('date', date)
          .order('created_at', { ascending: false })
          .limit(1)
          .abortSignal(signal)
          .maybeSingle()
          .throwOnError(),
      ]);
      return { hasLog: entry !== null, revision: entry?.revision ?? null, feedback: toStoredFeedback(entry, analysis) };
    },
    networkMode: 'always',
    // The log may have changed while the panel was closed.
    staleTime: 0,
    select: useCallback((day: DayFeedback) => toCurrentFeedback(day, log.revision), [log.revision]),
    // An analysis from another tab or device does not invalidate this query.
    refetchOnWindowFocus: 'always',
  });

  // A save can make the feedback outdated.
  const { revision } = log;
  const loadedRevision = useRef(revision);
  useEffect(() => {
    if (loadedRevision.current === revision) return;
    loadedRevision.current = revision;
    void queries.invalidateQueries({ queryKey: ['feedback', date] });
  }, [date, queries, revision]);

  const { flush } = log;
  const analyze = useCallback(
    (force: boolean) =>
      run(
        async (hearing) => {
          if (!(await flush())) {
            return {
              kind: 'failed',
              failure: { kind: 'refused', reason: 'unsaved', message: NOT_SAVED, retryAt: null },
            };
          }
          return askCoach(supabase, {
            name: 'ai-feedback',
            userId: user.id,
            body: { date, ...(force && { force }) },
            isResult: isFeedback,
            ...hearing,
          });
        },
        async (result) => {
          // A query in flight may return the state before this analysis.
          await queries.cancelQueries({ queryKey: ['feedback', date] });
          queries.setQueryData<DayFeedback>(['feedback', date], { hasLog: true, revision: null, feedback: result });
          void queries.invalidateQueries({ queryKey: ['feedback', date] });
          invalidateEntryCache(queries);
        },
      ),
    [date, flush, queries, run, supabase, user.id],
  );

  return { stored, view, analyze, cancel };
}

/** Feedback that was read before the open log's last save is outdated, without waiting for the next read. */
function toCurrentFeedback(day: DayFeedback, openRevision: number | null): DayFeedback {
  const { revision, feedback } = day;
  const isOlder = revision !== null && openRevision !== null && revision < openRevision;
  return isOlder && feedback ? { ...day, feedback: { ...feedback, upToDate: false } } : day;
}

function isFeedback(data: unknown): data is FeedbackResult {
  const { score, feedback, cited, analyzedAt } = (data ?? {}) as Partial<FeedbackResult>;
  return isScore(score) && typeof feedback === 'string' && Array.isArray(cited) && typeof analyzedAt === 'string';
}

// Builds a day's feedback from its entry and analysis rows.

export type StoredFeedback = {
  score: number | null;
  feedback: string;
  cited: readonly Citation[];
  missingFact: string | null;
  analyzedAt: string;
  upToDate: boolean;
};

type EntryRow = Pick<ApiRow<'entries'>, 'ai_feedback' | 'hustle_score' | 'ai_analyzed_at' | 'updated_at'>;
type AnalysisRow = Pick<ApiRow<'analyses'>, 'text' | 'cited' | 'cited_refs' | 'missing_fact' | 'created_at'>;

/** `analysis`: the day's newest. If another client or an import wrote the entry's feedback, the analysis is ignored. */
export function toStoredFeedback(entry: EntryRow | null, analysis: AnalysisRow | null): StoredFeedback | null {
  if (!entry?.ai_feedback || !entry.ai_analyzed_at) return null;
  const matching = analysis?.text === entry.ai_feedback ? analysis : null;
  // Analyses of earlier prompts have no `cited_refs`. Their texts cite `[4]`, which becomes `[line 4]`.
  const relabel = matching?.cited_refs === null ? labelLineNumbers : (text: string): string => text;
  return {
    score: entry.hustle_score,
    feedback: relabel(entry.ai_feedback),
    cited: matching ? toCitations(matching.cited, matching.cited_refs) : [],
    missingFact: matching?.missing_fact ? relabel(matching.missing_fact) : null,
    // Feedback that came back with a deleted log has the time of its return in the entry.
    analyzedAt: matching?.created_at ?? entry.ai_analyzed_at,
    upToDate: entry.ai_analyzed_at >= entry.updated_at,
  };
}
