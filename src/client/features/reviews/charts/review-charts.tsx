/** The person's own numbers, to look at: workdays, scores, the year, and lines to copy out. */
import type { Day } from '#domain/day/day.ts';
import { firstDayOf } from '#domain/plan/review-period.ts';
import type { ReviewPeriod } from '#domain/plan/review-period.ts';
import { countWorkdays, workdaysText } from '#domain/day/workdays.ts';
import styles from './review-charts.module.css';
import { ScorePlot } from './score-plot.tsx';
import type { LoggedDay } from '../use-logged-days.ts';
import { FirstLines } from '../wins.tsx';
import { YearMap } from './year-map.tsx';

type ReviewPicturesProps = {
  period: ReviewPeriod;
  today: Day;
  logged: readonly LoggedDay[];
  /** An analysis of this period names its wins, better than the first lines of its logs do. */
  analysed: boolean;
};

export function ReviewPictures({ period, today, logged, analysed }: ReviewPicturesProps) {
  if (logged.length === 0) {
    return (
      <section className={styles.section} aria-labelledby="nothing-yet">
        <h2 id="nothing-yet">Nothing to draw yet</h2>
        <p className={styles.quiet}>
          Write a few days. Your scores, your year and the first lines of your logs then appear here.
        </p>
      </section>
    );
  }
  const from = firstDayOf(period, today);
  const workdays = countWorkdays(from, today, today, new Set(logged.map(({ date }) => date)));
  return (
    <div className={styles.pictures}>
      <section className={styles.section} aria-labelledby="workdays">
        <h2 id="workdays" className={styles.large}>
          {workdaysText(workdays)}
        </h2>
        <p className={styles.quiet}>
          Monday to Friday of this period, up to today. A quick entry such as “I am sick” accounts for its day as well.
        </p>
      </section>
      <ScorePlot from={from} today={today} logged={logged} />
      <YearMap today={today} logged={logged} />
      {!analysed && <FirstLines period={period} today={today} />}
    </div>
  );
}
