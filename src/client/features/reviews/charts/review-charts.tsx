/** The charts of the reviews screen: workdays, scores, the year, and lines to copy. */
import type { Day } from '#domain/day/day.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { countWorkdays, workdaysText } from '#domain/day/workdays.ts';
import styles from './review-charts.module.css';
import { ScorePlot } from './score-plot.tsx';
import type { LoggedDay } from '../use-logged-days.ts';
import { FirstLines } from '../wins.tsx';
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
  const from = firstDayOf(period, today);
  const workdays = countWorkdays(from, today, today, new Set(logged.map(({ date }) => date)));
  return (
    <div className={styles.charts}>
      <section className={styles.section} aria-labelledby="workdays">
        <h2 id="workdays" className={styles.large}>
          {workdaysText(workdays)}
        </h2>
        <p className={styles.quiet}>
          Monday to Friday of this period, from your first log to today. Quick entries such as “I am sick” count too.
        </p>
      </section>
      <ScorePlot from={from} today={today} logged={logged} />
      <YearMap today={today} logged={logged} />
      {!hasAnalysis && <FirstLines period={period} today={today} />}
    </div>
  );
}
