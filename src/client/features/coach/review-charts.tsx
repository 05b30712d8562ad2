/** The charts of the reviews screen: scores, the year, and lines to copy. */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { dateLabel, MONTHS, type Day } from '#domain/day/day.ts';
import { isTimeOff } from '#domain/day/time-off.ts';
import { isLongPeriod, type DayRange, type ReviewPeriod } from '#domain/plan/review-period.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import { dayPath, yearPath } from '#domain/routes.ts';
import { weekdaysFrom } from '#domain/day/month.ts';
import { yearRows } from '#domain/year.ts';
import { chosenWeekStart } from '#client/lib/session/browser-preferences.ts';
import { Link, useNavigate } from '#client/lib/navigation.ts';
import { useRovingTabindex } from '#client/ui/use-roving-tabindex.ts';
import { useTimeOff } from '#client/ui/use-time-off.ts';
import { ScorePlot } from './score-plot.tsx';
import type { LoggedDay } from './use-logged-days.ts';
import { FirstLines } from './wins.tsx';
import styles from './review-charts.module.css';

type ReviewChartsProps = {
  period: ReviewPeriod;
  range: DayRange;
  today: Day;
  logged: readonly LoggedDay[];
  /** True if an analysis, which lists the wins, is shown or is still being read. Then the first lines are hidden. */
  hasAnalysis: boolean;
};

export function ReviewCharts({ period, range, today, logged, hasAnalysis }: ReviewChartsProps) {
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
      <ScorePlot {...range} today={today} logged={logged} />
      <YearMap today={today} logged={logged} />
      {/* The logs of a long period are too many to read for their first lines. */}
      {!hasAnalysis && !isLongPeriod(period) && <FirstLines range={range} />}
    </div>
  );
}

/** No shade, then five shades of one hue, weakest first. One hue is readable with colour blindness. */
const SHADES = [
  { shade: 'none', words: 'No log' },
  { shade: 'log', words: 'Logged' },
  { shade: 'poor', words: 'Score 1–3' },
  { shade: 'weak', words: '4–5' },
  { shade: 'fair', words: '6–7' },
  { shade: 'good', words: '8–10' },
] as const;

/** From this share on, a month's name counts as wholly visible: rounding makes the ratio a little less than 1. */
const UNCUT_RATIO = 0.97;

const OFF = { shade: 'off', words: 'Time off' } as const;

const shadeOf = (logged: LoggedDay | undefined, isOff: boolean): (typeof SHADES | [typeof OFF])[number]['shade'] =>
  logged === undefined ? (isOff ? 'off' : 'none') : logged.score === null ? 'log' : scoreBand(logged.score).name;

function labelOf(date: Day, logged: LoggedDay | undefined, isOff: boolean): string {
  const what =
    logged === undefined
      ? isOff
        ? 'day off'
        : 'no log'
      : logged.score === null
        ? 'log without a score'
        : `${logged.score} of 10, ${scoreBand(logged.score).word}`;
  return `${dateLabel(date)}: ${what}`;
}

/** The last year as a heat map: one square per day, shaded by its score. */
function YearMap({ today, logged }: { today: Day; logged: readonly LoggedDay[] }) {
  const [weekStart] = useState(chosenWeekStart);
  const rows = yearRows(today, weekStart);
  const weekdays = weekdaysFrom(weekStart);
  const { ranges: timeOff } = useTimeOff();
  const weeks = rows[0]!.length;
  const days = new Map(logged.map((day) => [day.date, day]));
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const indexOf = (row: number, week: number): number => row * weeks + week;
  const todayRow = rows.findIndex((row) => row.at(-1) === today);
  const roving = useRovingTabindex(7 * weeks, indexOf(todayRow, weeks - 1), (key, at) =>
    moveInYear(rows, weeks, key, at),
  );

  useStickToEnd(box);
  useHideCutMonths(box);
  const open = (date: Day): void => void navigate(dayPath(date));

  return (
    <section className={styles.section} aria-labelledby="year">
      <div className={styles.head}>
        <h2 id="year">The last twelve months</h2>
        <p className={styles.quiet}>
          {logged.length} {logged.length === 1 ? 'day' : 'days'} with a log
          <span className={styles.elsewhere}>
            {' · '}
            <Link to={yearPath(today.slice(0, 4))}>{today.slice(0, 4)} on one page</Link>
          </span>
        </p>
      </div>
      <div ref={box} className={styles.box}>
        <div className={styles.months} aria-hidden="true">
          <span />
          {monthsOf(rows).map(({ name, weeks: span, from }) => (
            <span key={from} style={{ gridColumn: `span ${span}` }}>
              {span > 2 && <span data-month>{name}</span>}
            </span>
          ))}
        </div>
        <div role="grid" aria-label="Logs of the last twelve months, by weekday and week" aria-readonly="true">
          {rows.map((row, weekday) => (
            <div key={weekdays[weekday]} role="row" className={styles.row}>
              <span role="rowheader" className={styles.weekday}>
                <span className={weekday % 2 === 0 ? 'unseen' : undefined}>{weekdays[weekday]!.slice(0, 3)}</span>
              </span>
              {row.map((date, week) => {
                if (date === null) return null;
                const isOff = isTimeOff(timeOff, date);
                const words = labelOf(date, days.get(date), isOff);
                return (
                  <span
                    key={week}
                    {...roving(indexOf(weekday, week), () => open(date))}
                    role="gridcell"
                    className={styles.day}
                    data-shade={shadeOf(days.get(date), isOff)}
                    data-today={date === today || undefined}
                    aria-label={words}
                    title={words}
                  />
                );
              })}
            </div>
          ))}
        </div>
      </div>
      <ul className={styles.legend} aria-label="Legend">
        {[...SHADES, ...(timeOff.length > 0 ? [OFF] : [])].map(({ shade, words }) => (
          <li key={shade}>
            <span className={styles.day} data-shade={shade} aria-hidden="true" />
            {words}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Keeps the map scrolled to the newest weeks when its width changes, unless the user has scrolled back. */
function useStickToEnd(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    let isAtEnd = true;
    let width = element.clientWidth;
    const onScroll = (): void => {
      // A growing map fires scroll events by itself. Ignore them until the observer below has handled the resize.
      if (element.clientWidth !== width) return;
      // The tolerance of two pixels covers zoomed pages, which round fractional scroll positions.
      isAtEnd = element.scrollLeft + width >= element.scrollWidth - 2;
    };
    // A map that shrinks keeps its scrollLeft and fires no scroll event.
    const observer = new ResizeObserver(() => {
      width = element.clientWidth;
      if (isAtEnd) element.scrollLeft = element.scrollWidth;
    });
    element.addEventListener('scroll', onScroll, { passive: true });
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, [box]);
}

/** Hides the name of a month that an edge of the box cuts. */
function useHideCutMonths(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const corner = element.querySelector<HTMLElement>('[role=rowheader]')!.offsetWidth;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries)
          target.toggleAttribute('data-cut', intersectionRatio < UNCUT_RATIO);
      },
      // Names also scroll below the sticky column of weekdays.
      { root: element, rootMargin: `0px 0px 0px -${corner}px`, threshold: UNCUT_RATIO },
    );
    for (const month of element.querySelectorAll('[data-month]')) observer.observe(month);
    return () => observer.disconnect();
  }, [box]);
}

/**
 * Left and right move by a week, up and down by a day, PageUp and PageDown by four weeks, Home and End to the ends of
 * the row. Null for other keys.
 */
function moveInYear(rows: readonly (readonly (Day | null)[])[], weeks: number, key: string, at: number): number | null {
  const row = Math.floor(at / weeks);
  const week = at % weeks;
  const lastOf = (of: number): number => rows[of]!.findLastIndex((date) => date !== null);
  const to = (toRow: number, toWeek: number): number =>
    toWeek < 0 || toWeek > lastOf(toRow) ? at : toRow * weeks + toWeek;
  switch (key) {
    case 'ArrowLeft':
      return to(row, week - 1);
    case 'ArrowRight':
      return to(row, week + 1);
    case 'ArrowUp':
      return row === 0 ? to(6, week - 1) : to(row - 1, week);
    case 'ArrowDown':
      return row === 6 ? to(0, week + 1) : to(row + 1, week);
    case 'PageUp':
      return to(row, Math.max(0, week - 4));
    case 'PageDown':
      return to(row, Math.min(lastOf(row), week + 4));
    case 'Home':
      return to(row, 0);
    case 'End':
      return to(row, lastOf(row));
    default:
      return null;
  }
}

/** Each month spans the weeks that start in it. */
function monthsOf(rows: readonly (readonly (Day | null)[])[]): { name: string; weeks: number; from: string }[] {
  const months: { name: string; weeks: number; from: string }[] = [];
  for (const sunday of rows[0]!) {
    const from = sunday!.slice(0, 7);
    const before = months.at(-1);
    if (before?.from === from) before.weeks += 1;
    else months.push({ name: MONTHS[Number(from.slice(5)) - 1]!.slice(0, 3), weeks: 1, from });
  }
  return months;
}
