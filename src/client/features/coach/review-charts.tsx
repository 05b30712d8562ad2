/** The charts of the reviews screen: scores, the year, and lines to copy. */
import type { Day } from '#domain/day/day.ts';
import { firstDayOf, type ReviewPeriod } from '#domain/plan/review-period.ts';
import styles from './review-charts.module.css';
import { ScorePlot } from './score-plot.tsx';
import type { LoggedDay } from './use-logged-days.ts';
import { FirstLines } from './wins.tsx';
import { YearMap } from './year-map.tsx';

type ReviewChartsProps = {
  period: ReviewPeriod;
  today: Day;
  logged: readonly LoggedDay[];
  /** True if an analysis, which lists the wins of the period, is shown. Then the first lines are hidden. */
  hasAnalysis: boolean;
};

export function ReviewCharts({ period, today, logged, hasAnalysis }: ReviewChartsProps) {
  if (logged.length === 0) {
    return (
      <section className={styles.section} aria-labelledby="no-charts">
        <h2 id="no-charts">No charts yet</h2>
        <p className={styles.quiet}>
          Log a few days to see your scores, your year and the first lines of your logs here.
        </p>
      </section>
    );
  }
  return (
    <div className={styles.charts}>
      <ScorePlot from={firstDayOf(period, today)} today={today} logged={logged} />
      <YearMap today={today} logged={logged} />
      {!hasAnalysis && <FirstLines period={period} today={today} />}
    </div>
  );
}
