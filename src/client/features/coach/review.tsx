/** The analysis of one period: button, streamed text, result and error. */
import { AI_MESSAGES, type TrendResult } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { firstDayOf, REVIEW_PERIODS, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { askCoach } from './coach-stream.ts';
import { useUser } from '#client/lib/session/session.ts';
import { useClientConfig, useSupabase } from '#client/lib/api/supabase.ts';
import { useAnalysis, type AnalysisView } from './use-analysis.ts';
import { useConsent } from './use-consent.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { AnalysisFailure, useRetryWait } from './analysis-failure.tsx';
import { Button } from '#client/ui/button.tsx';
import { CoachConsent } from './coach-consent.tsx';
import { isTrend, ReviewCard, ReviewText, titleOf, type ShownReview } from './review-card.tsx';
import styles from './reviews.module.css';
import { useScrollIntoView } from './use-scroll-into-view.ts';

type ReviewProps = {
  period: ReviewPeriod;
  today: Day;
  count: number | null;
  /** The stored review; null without one, undefined until it is read. */
  result: ShownReview | null | undefined;
  onResult: (result: TrendResult) => void;
};

export function Review({ period, today, count, result, onResult }: ReviewProps) {
  const { features } = useClientConfig();
  const supabase = useSupabase();
  const user = useUser();
  const consent = useConsent();
  const { view, run, cancel } = useAnalysis<TrendResult>();
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
          body: { period, from: firstDayOf(period, today), to: today, ...(force && { force }) },
          isResult: isTrend,
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
        {isRunning && <StreamingReview view={view} period={period} />}
      </div>
      {result && (
        <ReviewCard result={result} label={isRunning ? 'Previous analysis' : 'Analysis'} isReplaced={isRunning} />
      )}
    </div>
  );
}

function announcement({ phase }: AnalysisView): string {
  if (phase === 'running') return 'The coach is reading your logs.';
  if (phase === 'cancelled') return 'Cancelled. Nothing was saved.';
  return phase === 'done' ? 'The analysis is ready.' : '';
}

function StreamingReview({ view, period }: { view: AnalysisView; period: ReviewPeriod }) {
  return (
    <section className={styles.result} aria-label="New analysis" aria-busy="true">
      <h2>{titleOf(period)}</h2>
      <p className={styles.facts}>
        {view.failures > 0 ? `Attempt ${view.failures + 1} · ` : ''}
        {view.text === '' ? 'Reading your logs...' : 'Writing...'}
      </p>
      {view.text !== '' && <ReviewText analysis={view.text} writing />}
    </section>
  );
}
