/** Hustle Reviews: the upgrade pitch on the free plan, the review of a chosen period on premium. */
import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useDeferredValue, useEffect, useState } from 'react';
import { AI_MESSAGES, type ReviewResult } from '#domain/coach/coach.ts';
import { PREMIUM_PRICE, FAIR_USE_NOTE } from '#domain/plan/plan.ts';
import { FIRST_DAY, type Day } from '#domain/day/day.ts';
import { countWorkdays, workdaysText } from '#domain/day/time-off.ts';
import {
  isLongPeriod,
  rangeLabel,
  rangeOf,
  REVIEW_PERIODS,
  type DayRange,
  type ReviewPeriod,
} from '#domain/plan/review-period.ts';
import { ROUTES } from '#domain/routes.ts';
import { Pitch, PlanPlaceholder } from '#client/ui/plan/plan-placeholder.tsx';
import { usePremium } from '#client/lib/plan/premium.ts';
import { Link, useTitle } from '#client/lib/navigation.ts';
import { BackToJournal, Page } from '#client/ui/page/page.tsx';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { UpgradeButton } from '#client/ui/plan/upgrade-button.tsx';
import { SampleReview } from '#client/ui/coach-sample.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { useToday } from '#client/lib/hooks/use-clock.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';
import { usePreferences } from '#client/ui/use-preferences.ts';
import { Button } from '#client/ui/button.tsx';
import { lazyChunk, tryLoad } from '#client/ui/lazy-chunk.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { useLocalCopies } from '#client/sync/day-savers-provider.tsx';
import { reviewCopyKey } from '#client/sync/store/prune-copies.ts';
import { KEPT_KEY, KeptReviews } from './kept-reviews.tsx';
import { Review, ReviewCopy, reviewKey, useStoredReview } from './review.tsx';
import { useLoggedDays, type LoggedDay } from './use-logged-days.ts';
import styles from './reviews.module.css';
import charts from './review-charts.module.css';

export function ReviewsScreen() {
  useTitle('Hustle Reviews');
  const premium = usePremium();
  return (
    <Page title="Hustle Reviews" back={<BackToJournal />}>
      {premium === null && <PlanPlaceholder />}
      {premium === false && (
        <>
          <ReviewsPitch />
          <WinsLink />
          <KeptReviews note="Your newest review stays. The others open again with Closer." />
        </>
      )}
      {premium === true && <ReviewPeriods />}
    </Page>
  );
}

const WinsLink = () => (
  <p className={`${charts.section} ${charts.elsewhere}`}>
    <Link to={ROUTES.wins.path}>Wins: the document for your yearly review</Link>
  </p>
);

const POINTS = [
  { title: 'Pattern recognition', text: 'What your good days have in common, and your bad days.' },
  { title: 'Biggest wins and obstacles', text: 'Taken from your own logs, not from a template.' },
  { title: 'Focus-area recommendations', text: 'The one or two things worth doing differently.' },
  { title: 'A week, a month, a quarter, a year', text: 'A week to steer by, a year to see where it led.' },
] as const;

/** The upgrade pitch, which replaces the choice of a period on the free plan. */
function ReviewsPitch() {
  const { features } = useClientConfig();
  return (
    <Pitch lead={features.coach ? AI_MESSAGES.reviewsPremium : null}>
      {features.coach ? (
        <>
          <SampleReview />
          <dl className={styles.points}>
            {POINTS.map((point) => (
              <div key={point.title}>
                <dt>{point.title}</dt>
                <dd>{point.text}</dd>
              </div>
            ))}
          </dl>
        </>
      ) : (
        // A server without a coach cannot sell reviews. The upgrade button stays, because the plan has other benefits.
        <Notice kind="info">{AI_MESSAGES.notConfigured}</Notice>
      )}
      <UpgradeButton feature="reviews" />
      <p className={styles.price}>{features.coach ? AI_MESSAGES.reviewsPrice : PREMIUM_PRICE.label}</p>
      {features.coach && <p className={styles.price}>{FAIR_USE_NOTE}</p>}
    </Pitch>
  );
}

const reviewCharts = lazyChunk(
  async () => (await import('./review-charts.tsx')).ReviewCharts,
  // If the charts fail to load, the analysis stays usable.
  ChartsFailed,
);

const PERIODS = Object.keys(REVIEW_PERIODS) as ReviewPeriod[];

/** The reviews on the premium plan: the period, its analysis and the charts. */
function ReviewPeriods() {
  const today = useToday();
  const [period, setPeriod] = useState<ReviewPeriod>('7-day');
  /** How many quarters or years before the current one. */
  const [back, setBack] = useState(0);
  const range = rangeOf(period, today, back);
  const logged = useLoggedDays(today, range.from);
  const stored = useStoredReview(period, range);
  // The charts wait for the review, which is above them, and stay while another period's review is read.
  const [isSettled, setIsSettled] = useState(false);
  if (!isSettled && logged.data && !stored.isPending) setIsSettled(true);
  // Renders the squares of a year in slices, so that the page reacts meanwhile.
  const areChartsDue = useDeferredValue(isSettled, false);
  // The chunk loads while the server answers.
  useEffect(() => void tryLoad(reviewCharts.load), []);
  const queries = useQueryClient();
  const copies = useLocalCopies();
  const show = async (made: ReviewResult): Promise<void> => {
    const key = reviewKey(made.period, range);
    // A query in flight may return the review before this one.
    await queries.cancelQueries({ queryKey: key });
    queries.setQueryData(key, made);
    void copies?.storeCopy(reviewCopyKey(made.period), made);
    void queries.invalidateQueries({ queryKey: KEPT_KEY });
    // The analysis used the current logs, so refetch the counts and charts too.
    void logged.refetch();
  };
  const choose = (next: ReviewPeriod): void => {
    setPeriod(next);
    setBack(0);
  };
  const reload = (): void => {
    void logged.refetch();
    void stored.refetch();
  };
  const loggedIn = ({ from, to }: DayRange): readonly LoggedDay[] | null =>
    logged.data?.filter(({ date }) => date >= from && date <= to) ?? null;
  const rangeOfChoice = (of: ReviewPeriod): DayRange => (of === period ? range : rangeOf(of, today));

  return (
    <>
      <fieldset className={styles.periods}>
        <legend className="unseen">Period</legend>
        {PERIODS.map((each) => (
          <label key={each} className={styles.period}>
            <input type="radio" name="period" value={each} checked={period === each} onChange={() => choose(each)} />
            <span className={styles.title}>{REVIEW_PERIODS[each].title}</span>
            <span className={styles.count}>{entriesLabel(loggedIn(rangeOfChoice(each))?.length ?? null)}</span>
          </label>
        ))}
      </fieldset>
      {isLongPeriod(period) && (
        <div className={styles.stepper}>
          <Button tone="text" softDisabled={range.from <= FIRST_DAY} onClick={() => setBack(back + 1)}>
            Earlier {period}
          </Button>
          <strong aria-live="polite">{rangeLabel(period, range.from)}</strong>
          <Button tone="text" softDisabled={back === 0} onClick={() => setBack(Math.max(0, back - 1))}>
            Later {period}
          </Button>
        </div>
      )}
      {logged.isError || stored.isError ? (
        <>
          <div className={styles.failed}>
            <Notice kind="error">
              Couldn't load your entries. They are safe. Check your connection and try again.
            </Notice>
            <Button onClick={reload} busy={logged.isFetching || stored.isFetching} busyLabel="Loading...">
              Try again
            </Button>
          </div>
          <ReviewCopy key={period} period={period} />
        </>
      ) : (
        // The key aborts the analysis of the other period and clears its error.
        <Review
          key={`${period} ${back}`}
          period={period}
          range={range}
          logged={loggedIn(range)}
          result={stored.data}
          onResult={show}
        />
      )}
      {isSettled && logged.data && logged.data.length > 0 && <Workdays {...range} today={today} logged={logged.data} />}
      {areChartsDue && logged.data && (
        <Suspense fallback={<LoadingText />}>
          <reviewCharts.LoadingView
            period={period}
            range={range}
            today={today}
            logged={logged.data}
            hasAnalysis={stored.data !== null && !stored.isError}
          />
          {/* Within Suspense, so that the link appears with the charts above it, and does not move. */}
          <WinsLink />
        </Suspense>
      )}
      {logged.isError && !logged.data && <WinsLink />}
      {isSettled && <KeptReviews />}
    </>
  );
}

/** Not in the chunk of the charts, so that its large heading shows without waiting for them. */
function Workdays({ from, to, today, logged }: DayRange & { today: Day; logged: readonly LoggedDay[] }) {
  const { workdays: weekdays } = usePreferences().preferences;
  const { ranges: timeOff } = useTimeOff();
  const days = new Set(logged.map(({ date }) => date));
  const workdays = countWorkdays(from, to, today, days, { timeOff, workdays: weekdays });
  return (
    <section className={charts.section} aria-labelledby="workdays">
      <h2 id="workdays" className={charts.large}>
        {workdaysText(workdays)}
      </h2>
      <p className={charts.quiet}>
        The workdays of this period from your first log to today, without your time off. Quick entries such as “I am
        sick” count too.
      </p>
    </section>
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
