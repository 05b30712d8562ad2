/** A Closer's reviews: the period, its analysis, and the pictures of the person's own numbers. */
import { lazy, Suspense, useState } from 'react';
import type { TrendResult } from '#domain/coach/coach.ts';
import { firstDayOf, REVIEW_PERIODS } from '#domain/plan/review-period.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { useToday } from '#client/lib/hooks/use-today.ts';
import { Button } from '#client/ui/button.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { Review } from './review.tsx';
import styles from './reviews.module.css';
import { useLoggedDays } from './use-logged-days.ts';

const loadPictures = () => import('./charts/review-charts.tsx');
const ReviewPictures = lazy(async () => {
  try {
    return { default: (await loadPictures()).ReviewPictures };
  } catch {
    // Without its code the analysis stays, and the page says what is missing.
    return { default: NoPictures };
  }
});

const PERIODS = Object.keys(REVIEW_PERIODS) as ReviewPeriod[];

export function ReviewPeriods() {
  const today = useToday();
  const [period, setPeriod] = useState<ReviewPeriod>('7-day');
  const [result, setResult] = useState<TrendResult | null>(null);
  const logged = useLoggedDays(today);
  // Another period begins without the result and the error of the one before (docs/specification/screens.md 11).
  const choose = (next: ReviewPeriod): void => {
    setPeriod(next);
    setResult(null);
  };
  // It was made of the logs as they are now, and so is what stands around it.
  const show = (made: TrendResult): void => {
    setResult(made);
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
            <span className={styles.count}>{entriesText(count(each))}</span>
          </label>
        ))}
      </fieldset>
      {logged.isError ? (
        <div className={styles.failed}>
          <Notice kind="error">
            Your entries could not be counted. They are safe; only this page could not read them.
          </Notice>
          <Button onClick={() => void logged.refetch()} busy={logged.isFetching} busyLabel="Loading...">
            Try Again
          </Button>
        </div>
      ) : (
        <Review key={period} period={period} today={today} count={count(period)} result={result} onResult={show} />
      )}
      {logged.data && (
        <Suspense fallback={<LoadingText />}>
          <ReviewPictures period={period} today={today} logged={logged.data} analysed={result !== null} />
        </Suspense>
      )}
    </>
  );
}

const entriesText = (count: number | null): string =>
  count === null ? '\u00a0' : `${count} ${count === 1 ? 'entry' : 'entries'}`;

function NoPictures() {
  return (
    <div className={styles.failed}>
      <Notice kind="error">The pictures did not arrive. Check your connection, then load the page again.</Notice>
    </div>
  );
}
