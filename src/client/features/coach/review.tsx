/** The review of one period: button, streamed text, result and error, and the newest stored one. */
import { useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { AI_MESSAGES, type ReviewProgress, type ReviewResult } from '#domain/coach/coach.ts';
import { FAIR_USE_NOTE } from '#domain/plan/plan.ts';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import {
  isLongPeriod,
  monthLabel,
  monthsOfRange,
  REVIEW_PERIODS,
  reviewTitle,
  storedReviewBounds,
  type DayRange,
  type ReviewPeriod,
} from '#domain/plan/review-period.ts';
import { splitReview } from '#domain/coach/win-bullets.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { Button } from '#client/ui/button.tsx';
import { ProgressBar } from '#client/ui/progress-bar.tsx';
import { useData } from '#client/lib/api/data-client.ts';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import { localCopyText } from '#client/sync/save-status.ts';
import { reviewCopyKey } from '#client/sync/store/prune-copies.ts';
import type { Copy } from '#client/sync/store/user-database.ts';
import { askCoach } from './coach-stream.ts';
import { useAnalysis, AnalysisFailure, useRetryWait, type AnalysisView } from './use-analysis.tsx';
import { useConsent, CoachConsent, SandboxModelNotice } from './coach-consent.tsx';
import { CoachText, TimeAgo } from './coach-text.tsx';
import type { LoggedDay } from './use-logged-days.ts';
import { Wins } from './wins.tsx';
import styles from './reviews.module.css';

type ReviewProps = {
  period: ReviewPeriod;
  range: DayRange;
  /** The days of the range with a log; null until they are read. */
  logged: readonly LoggedDay[] | null;
  /** The stored review; null without one, undefined until it is read. */
  result: ShownReview | null | undefined;
  onResult: (result: ReviewResult) => void;
};

export function Review({ period, range, logged, result, onResult }: ReviewProps) {
  const count = logged?.length ?? null;
  const { features } = useClientConfig();
  const supabase = useSupabase();
  const user = useUser();
  const consent = useConsent();
  const { view, run, cancel } = useAnalysis<ReviewResult>();
  const { fallbackRef, areaProps } = useFocusRestore();
  const wait = useRetryWait(view.failure);
  const isRunning = view.phase === 'running';
  const progress = useScrollIntoView(isRunning || view.phase === 'failed' ? view.phase : null);

  const generate = (force: boolean): void =>
    void run(
      (hearing) =>
        askCoach(supabase, {
          name: 'trend-analysis',
          userId: user.id,
          body: { period, ...range, ...(force && { force }) },
          isResult: isReviewResult,
          ...hearing,
        }),
      onResult,
    );

  if (features.coach && !consent.given && count !== 0) {
    return (
      <div className={styles.generate} {...areaProps}>
        <CoachConsent button={fallbackRef} />
        {result && <ReviewCard result={result} label="Analysis" />}
      </div>
    );
  }
  const note = count === 0 ? AI_MESSAGES.emptyPeriod : features.coach ? '' : AI_MESSAGES.notConfigured;
  return (
    <div className={styles.generate} {...areaProps}>
      <div className={styles.buttons}>
        <Button
          ref={fallbackRef}
          tone={result ? 'plain' : 'primary'}
          busy={isRunning}
          busyLabel={result ? 'Regenerating...' : 'Analyzing Your Hustle...'}
          disabled={!count || result === undefined || !features.coach}
          softDisabled={wait !== null}
          aria-describedby="generate-note"
          onClick={() => generate(Boolean(result))}
        >
          {result ? 'Regenerate Analysis' : REVIEW_PERIODS[period].generate}
        </Button>
        {isRunning && <Button onClick={cancel}>Cancel</Button>}
      </div>
      {isLongPeriod(period) && Boolean(count) && !isRunning && (
        <p className={styles.note}>{costNote(range, logged!)}</p>
      )}
      <p id="generate-note" className={note || view.phase === 'cancelled' ? styles.note : 'unseen'} role="status">
        {note || announcement(view)}
      </p>
      <div ref={progress} className={styles.progress}>
        {view.failure && (
          <section className={styles.failure} aria-label="Analysis Error">
            <h2>Analysis Error</h2>
            <AnalysisFailure failure={view.failure} failures={view.failures} />
            {(wait ?? (view.failures > 1 ? '' : null)) !== null && (
              <p className={styles.note}>
                {view.failures > 1 ? `Attempt ${view.failures}. ` : ''}
                {wait}
              </p>
            )}
          </section>
        )}
        {isRunning && <StreamingReview view={view} title={reviewTitle(period, range.from)} />}
      </div>
      {result && (
        <ReviewCard result={result} label={isRunning ? 'Previous analysis' : 'Analysis'} isReplaced={isRunning} />
      )}
    </div>
  );
}

/** Says "up to", because only the server knows which of the months it has read before. */
function costNote(range: DayRange, logged: readonly LoggedDay[]): string {
  const months = monthsOfRange(range).filter(({ from, to }) => logged.some(({ date }) => date >= from && date <= to));
  return (
    `Counts as up to ${months.length + 1} analyses: one for each month that is new or has changed, and one for the review. ` +
    FAIR_USE_NOTE
  );
}

/** `Reading March 2026, month 3 of 12`. */
const progressText = ({ step, of, month }: ReviewProgress): string =>
  month === null ? 'Writing the review...' : `Reading ${monthLabel(month)}, month ${step} of ${of - 1}...`;

function announcement({ phase, progress }: AnalysisView): string {
  if (phase === 'running' && progress) return progressText(progress);
  if (phase === 'running') return 'The coach is reading your logs.';
  if (phase === 'cancelled')
    return progress !== null && progress.step > 1 ? AI_MESSAGES.cancelledBetweenMonths : AI_MESSAGES.cancelled;
  return phase === 'done' ? 'The analysis is ready.' : '';
}

function StreamingReview({ view, title }: { view: AnalysisView; title: string }) {
  const { progress } = view;
  return (
    <section className={styles.result} aria-label="New analysis" aria-busy="true">
      <h2>{title}</h2>
      {progress && <ProgressBar label="Progress" value={progress.step - 1} max={progress.of} />}
      <p className={styles.facts}>
        {view.failures > 0 && <span>Attempt {view.failures + 1}</span>}
        <span>{view.text !== '' ? 'Writing...' : progress ? progressText(progress) : 'Reading your logs...'}</span>
        {progress && <span>{stepsText(progress)}</span>}
      </p>
      {view.text !== '' && <ReviewText analysis={view.text} writing />}
    </section>
  );
}

/** How many analyses the run counts as, from the first progress event on. */
const stepsText = ({ analyses }: ReviewProgress): string =>
  `${analyses} ${analyses === 1 ? 'analysis' : 'analyses'} in all`;

/**
 * Scrolls into view when `key` changes; null disables it. An element in the upper half of the window stays, because it
 * has room to grow. Scrolls without animation, for reduced motion.
 */
function useScrollIntoView(key: string | null) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const top = element.current?.getBoundingClientRect().top ?? 0;
    if (key !== null && (top < 0 || top > innerHeight / 2)) element.current?.scrollIntoView({ block: 'start' });
  }, [key]);
  return element;
}

export function useStoredReview(period: ReviewPeriod, range: DayRange) {
  const data = useData();
  const { id } = useUser();
  const copies = useLocalCopies();
  return useQuery({
    queryKey: reviewKey(period, range),
    queryFn: async ({ signal }): Promise<ShownReview | null> => {
      const { firstFrom, lastFrom, firstTo } = storedReviewBounds(period, range);
      const { data: row } = await data
        .from('kept_reviews')
        .select('text, period_from, period_to, entry_count, created_at, is_changed')
        .eq('user_id', id)
        .eq('period', period)
        .gte('period_from', firstFrom)
        .lte('period_from', lastFrom)
        .gte('period_to', firstTo)
        .order('created_at', { ascending: false })
        .limit(1)
        .abortSignal(signal)
        .maybeSingle()
        .throwOnError();
      if (!row) return null;
      const review = {
        period,
        analysis: row.text,
        entryCount: row.entry_count,
        dateRange: { from: row.period_from, to: row.period_to },
        generatedAt: row.created_at,
        isChanged: row.is_changed,
      };
      void copies?.storeCopy(reviewCopyKey(period), review);
      return review;
    },
    // Another tab or device may have generated one since.
    staleTime: 0,
    networkMode: 'always',
  });
}

export const REVIEW_KEY = ['review'] as const;
export const reviewKey = (period: ReviewPeriod, { from, to }: DayRange) => [...REVIEW_KEY, period, from, to] as const;

export function ReviewCopy({ period }: { period: ReviewPeriod }) {
  const copies = useLocalCopies();
  const [copy, setCopy] = useState<Copy | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void copies?.readCopy(reviewCopyKey(period)).then((read) => isCurrent && setCopy(read));
    return () => void (isCurrent = false);
  }, [copies, period]);
  if (!isReview(copy?.value)) return null;
  return <ReviewCard result={copy.value} label="Last review" source={localCopyText(copy.at, Date.now())} />;
}

/** `entryCount`: 0 if it is not known. `isChanged`: a log of the period has changed since. */
export type ShownReview = Pick<ReviewResult, 'period' | 'analysis' | 'dateRange' | 'generatedAt' | 'entryCount'> & {
  isChanged?: boolean;
};

type ReviewCardProps = {
  result: ShownReview;
  label: string;
  isReplaced?: boolean;
  /** Where the review comes from, if not from the server. */
  source?: string;
};

function ReviewCard({ result, label, isReplaced = false, source }: ReviewCardProps) {
  const { period, analysis, dateRange } = result;
  return (
    <section className={styles.result} aria-label={label} data-replaced={isReplaced}>
      <h2>{reviewTitle(period, dateRange.from)}</h2>
      <ReviewFacts result={result} source={source} />
      <ReviewText analysis={analysis} />
      <SandboxModelNotice />
    </section>
  );
}

type ReviewFactsProps = { result: ShownReview; source?: string | undefined; hasRange?: boolean };

export function ReviewFacts({ result, source, hasRange = true }: ReviewFactsProps) {
  const { entryCount, dateRange, generatedAt, isChanged } = result;
  return (
    <p className={styles.facts}>
      {hasRange && <span>{dateRangeLabel(dateRange.from, dateRange.to)}</span>}
      {entryCount > 0 && (
        <span>
          {entryCount} {entryCount === 1 ? 'entry' : 'entries'} analyzed
        </span>
      )}
      <span>
        Generated <TimeAgo at={generatedAt} within />
      </span>
      {isChanged && <span>Written before later changes</span>}
      {source && <span>{source}</span>}
    </p>
  );
}

/** The review's text, with its wins as lines to copy. */
export function ReviewText({ analysis, writing = false }: { analysis: string; writing?: boolean }) {
  const { text, wins } = splitReview(analysis);
  return (
    <>
      <CoachText text={text} writing={writing} />
      <Wins wins={wins} writing={writing} />
    </>
  );
}

function isReview(data: unknown): data is ShownReview {
  const { period, analysis, entryCount, dateRange, generatedAt } = (data ?? {}) as Partial<ShownReview>;
  return (
    period !== undefined &&
    typeof analysis === 'string' &&
    typeof entryCount === 'number' &&
    typeof dateRange?.from === 'string' &&
    typeof generatedAt === 'string'
  );
}

const isReviewResult = (data: unknown): data is ReviewResult => isReview(data);
