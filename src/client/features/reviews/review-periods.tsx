/** The reviews on the premium plan: the period, its analysis and the charts. */
import { lazy, Suspense, useState } from 'react';
import type { TrendResult } from '#domain/coach/coach.ts';
import { firstDayOf, REVIEW_PERIODS } from '#domain/plan/review-period.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import { reviewCopyKey } from '#client/sync/store/prune-copies.ts';
import { StoredReview } from './stored-review.tsx';
import { Review } from './review.tsx';
import styles from './reviews.module.css';
import { useLoggedDays } from './use-logged-days.ts';

const loadCharts = () => import('./charts/review-charts.tsx');
const ReviewCharts = lazy(async () => {
  try {
    return { default: (await loadCharts()).ReviewCharts };
  } catch {
    // The chunk failed to load: keep the analysis usable.
    return { default: ChartsFailed };
  }
});

const PERIODS = Object.keys(REVIEW_PERIODS) as ReviewPeriod[];

export function ReviewPeriods() {
  const today = useToday();
  const [period, setPeriod] = useState<ReviewPeriod>('7-day');
  const [result, setResult] = useState<TrendResult | null>(null);
  const logged = useLoggedDays(today);
  const copies = useLocalCopies();
  // Switching the period clears the result and the error (docs/specification/screens.md 11).
  const choose = (next: ReviewPeriod): void => {
    setPeriod(next);
    setResult(null);
  };
  // The analysis used the current logs, so refetch the counts and charts too.
  const show = (made: TrendResult): void => {
    setResult(made);
    void copies?.storeCopy(reviewCopyKey(made.period), made);
    void logged.refetch();
  };
  const count = (of: ReviewPeriod): number | null =>
    logged.data?.filter(({ date }) => date >= firstDayOf(of, today)).length ?? null;

  return (
    <>
      <fieldset className={styles.periods}>
        <legend className="unseen">Period</legend>
        {PERIODS.map((each) => (
          <label key={each} className={styles.period}>
            <input type="radio" name="period" value={each} checked={period === each} onChange={() => choose(each)} />
            <span className={styles.title}>{REVIEW_PERIODS[each].title}</span>
            <span className={styles.count}>{entriesLabel(count(each))}</span>
          </label>
        ))}
      </fieldset>
      {logged.isError ? (
        <>
          <div className={styles.failed}>
            <Notice kind="error">
              Couldn't load your entries. They are safe. Check your connection and try again.
            </Notice>
            <Button onClick={() => void logged.refetch()} busy={logged.isFetching} busyLabel="Loading...">
              Try Again
            </Button>
          </div>
          <StoredReview key={period} period={period} />
        </>
      ) : (
        <Review key={period} period={period} today={today} count={count(period)} result={result} onResult={show} />
      )}
      {logged.data && (
        <Suspense fallback={<LoadingText />}>
          <ReviewCharts period={period} today={today} logged={logged.data} hasAnalysis={result !== null} />
        </Suspense>
      )}
    </>
  );
}

const entriesLabel = (count: number | null): string =>
  count === null ? '\u00a0' : `${count} ${count === 1 ? 'entry' : 'entries'}`;

function ChartsFailed() {
  return (
    <div className={styles.failed}>
      <Notice kind="error">Couldn't load the charts. Check your connection and reload the page.</Notice>
    </div>
  );
}
