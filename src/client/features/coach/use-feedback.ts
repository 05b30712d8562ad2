/** What the coach said about a day, as it is stored, and asking it again. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { isScore } from '#domain/coach/coach.ts';
import type { FeedbackResult } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { askCoach } from '#client/lib/coach/coach-stream.ts';
import { forgetDaysRead } from '#client/sync/entries/entry-cache.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useAnalysis } from '#client/lib/coach/use-analysis.ts';
import { storedFeedback } from './stored-feedback.ts';
import type { StoredFeedback } from './stored-feedback.ts';

/** `hasLog`: there is something to speak of. */
type DayFeedback = { hasLog: boolean; feedback: StoredFeedback | null };

/** What the sheet needs of the day that is open beside it. */
export type OpenLog = {
  /** Raised with every save. */
  revision: number | null;
  /** There are words that the server does not have yet. */
  unsaved: boolean;
  /** Saves them; false when that was not possible. */
  flush: () => Promise<boolean>;
};

const NOT_SAVED =
  'Your latest words are not saved yet, so the coach would read something else than you see. Try again once they are saved.';

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
          .select('ai_feedback, hustle_score, ai_analyzed_at, updated_at')
          .eq('user_id', user.id)
          .eq('date', date)
          .abortSignal(signal)
          .maybeSingle()
          .throwOnError(),
        data
          .from('analyses')
          .select('text, cited, cited_refs, missing_fact')
          .eq('user_id', user.id)
          .eq('kind', 'feedback')
          .eq('date', date)
          .order('created_at', { ascending: false })
          .limit(1)
          .abortSignal(signal)
          .maybeSingle(),
      ]);
      return { hasLog: entry !== null, feedback: storedFeedback(entry, analysis) };
    },
    networkMode: 'always',
    // Another tab or device may have asked the coach, which changes nothing that the journal itself reads.
    refetchOnWindowFocus: 'always',
  });

  // What was saved since changes whether the feedback still is about what is written.
  const { revision } = log;
  const read = useRef(revision);
  useEffect(() => {
    if (read.current === revision) return;
    read.current = revision;
    void queries.invalidateQueries({ queryKey: ['feedback', date] });
  }, [date, queries, revision]);

  const { flush } = log;
  const ask = useCallback(
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
          // A reading that is on its way was asked for before this was stored.
          await queries.cancelQueries({ queryKey: ['feedback', date] });
          queries.setQueryData<DayFeedback>(['feedback', date], { hasLog: true, feedback: result });
          void queries.invalidateQueries({ queryKey: ['feedback', date] });
          forgetDaysRead(queries);
        },
      ),
    [date, flush, queries, run, supabase, user.id],
  );

  return { stored, view, ask, cancel };
}

function isFeedback(data: unknown): data is FeedbackResult {
  const { score, feedback, cited, analyzedAt } = (data ?? {}) as Partial<FeedbackResult>;
  return isScore(score) && typeof feedback === 'string' && Array.isArray(cited) && typeof analyzedAt === 'string';
}
