/** HustleScores over the period. A day without one is a gap, never a zero. */
import { AxisBottom, AxisLeft } from '@visx/axis';
import { Group } from '@visx/group';
import { scaleLinear } from '@visx/scale';
import { LinePath } from '@visx/shape';
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';
import type { MouseEvent } from 'react';
import { SCORE_RANGE } from '#domain/coach/coach.ts';
import { addDays, dayLabel, daysBetween, weekdayOf } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import { ROUTES } from '#domain/routes.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import pictures from './review-charts.module.css';
import { useRoving } from './use-roving-tabindex.ts';
import styles from './score-plot.module.css';
import type { LoggedDay } from '../use-logged-days.ts';

const HEIGHT = 260;
const MARGIN = { top: 14, right: 26, bottom: 34, left: 34 };
/** Half of what a finger covers (WCAG 2.5.8). Days that are closer are not told apart by one. */
const REACH = 12;

type Point = { date: Day; score: number };
type ScorePlotProps = { from: Day; today: Day; logged: readonly LoggedDay[] };

export function ScorePlot({ from, today, logged }: ScorePlotProps) {
  const [asTable, setAsTable] = useState(false);
  const { features } = useClientConfig();
  const points = logged.filter((day): day is Point => day.score !== null && day.date >= from && day.date <= today);
  return (
    <section className={pictures.section} aria-labelledby="scores">
      <div className={pictures.head}>
        <h2 id="scores">HustleScores</h2>
        {points.length > 0 && (
          <Button tone="text" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as plot' : 'Show as table'}
          </Button>
        )}
      </div>
      {points.length === 0 ? (
        <p className={pictures.quiet}>
          {features.coach
            ? 'No scores in this period yet. Ask for feedback on a day, and its HustleScore appears here.'
            : 'No scores in this period.'}
        </p>
      ) : (
        <>
          {!asTable && <Plot key={from} from={from} today={today} points={points} />}
          {/* Around the table: it would not become narrower than its words itself. */}
          <div className={asTable ? styles.whole : 'unseen'}>
            <ScoreTable points={points} />
          </div>
        </>
      )}
    </section>
  );
}

/** What somebody who hears the page is given in place of the picture, and anybody who asks for it. */
function ScoreTable({ points }: { points: readonly Point[] }) {
  return (
    <table className={styles.table}>
      <caption className="unseen">HustleScores by day</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Score</th>
          <th scope="col">In a word</th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ date, score }) => (
          <tr key={date}>
            <th scope="row">{dayLabel(date)}</th>
            <td>{score}</td>
            <td>{scoreBand(score).word}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const inShort = ({ date, score }: Point): string =>
  `${weekdayOf(date).slice(0, 3)}, ${shortDate(date)}: ${score} of 10, ${scoreBand(score).word}`;
const inWords = ({ date, score }: Point): string => `${dayLabel(date)}: ${score} of 10, ${scoreBand(score).word}`;

function Plot({ from, today, points }: { from: Day; today: Day; points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const navigate = useNavigate();
  /** `tapped`: by a finger, which may have meant the day beside it. */
  const [named, setNamed] = useState<{ point: Point; tapped: boolean }>({ point: points.at(-1)!, tapped: false });
  const byFinger = useRef(false);
  const last = daysBetween(from, today);
  const roving = useRoving(points.length, points.length - 1, (key, at) =>
    key === 'ArrowLeft' || key === 'ArrowDown'
      ? at - 1
      : key === 'ArrowRight' || key === 'ArrowUp'
        ? at + 1
        : key === 'Home'
          ? 0
          : key === 'End'
            ? points.length - 1
            : null,
  );

  const x = scaleLinear({
    domain: [0, last],
    range: [MARGIN.left + 6, Math.max(width - MARGIN.right, MARGIN.left + 7)],
  });
  const y = scaleLinear({ domain: [SCORE_RANGE.min, SCORE_RANGE.max], range: [HEIGHT - MARGIN.bottom, MARGIN.top] });
  const placeOf = ({ date, score }: Point) => ({ left: x(daysBetween(from, date)), top: y(score) });
  const lefts = points.map((point) => placeOf(point).left);
  const dayWidth = x(1) - x(0);
  const linkTo = ({ date }: Point) => ({
    href: `${ROUTES.journal.path}?date=${date}`,
    onClick: (event: MouseEvent): void => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      void navigate({ to: ROUTES.journal.path, search: { date } as never });
    },
  });

  return (
    <div ref={box} className={styles.plot}>
      <p className={styles.named}>
        <span aria-hidden="true">{inShort(named.point)}</span>
        {named.tapped && <a {...linkTo(named.point)}>Open {shortDate(named.point.date)}</a>}
      </p>
      <svg
        width={width}
        height={HEIGHT}
        role="group"
        aria-label="HustleScores by day. Left and right go from day to day."
      >
        <g aria-hidden="true">
          {[4, 6, 8].map((score) => (
            <line
              key={score}
              className={styles.band}
              x1={MARGIN.left}
              x2={width - MARGIN.right}
              y1={y(score)}
              y2={y(score)}
            />
          ))}
          <AxisLeft
            left={MARGIN.left}
            scale={y}
            tickValues={[1, 4, 6, 8, 10]}
            tickFormat={String}
            hideAxisLine
            hideTicks
            tickLabelProps={{ className: styles.tick ?? '', dx: '-0.2em', dy: '0.32em', textAnchor: 'end' }}
          />
          <AxisBottom
            top={HEIGHT - MARGIN.bottom + 6}
            scale={x}
            tickValues={ticksOf(last, width)}
            tickFormat={(back) => shortDate(addDays(from, Number(back)))}
            hideTicks
            axisLineClassName={styles.line ?? ''}
            tickLabelProps={{ className: styles.tick ?? '', dy: '0.4em', textAnchor: 'middle' }}
          />
        </g>
        <Group>
          {runsOf(points).map((run) => (
            <LinePath
              key={run[0]!.date}
              className={styles.path ?? ''}
              data={run}
              x={(point) => placeOf(point).left}
              y={(point) => placeOf(point).top}
              aria-hidden="true"
            />
          ))}
          {points.map((point, index) => {
            const { left, top } = placeOf(point);
            const { href, onClick } = linkTo(point);
            const band = bandOf(lefts, index, Math.max(REACH, dayWidth / 2));
            const name = (): void => setNamed({ point, tapped: false });
            return (
              <a
                key={point.date}
                {...roving(index)}
                href={href}
                className={styles.point}
                data-band={scoreBand(point.score).name}
                data-named={point.date === named.point.date || undefined}
                aria-label={inWords(point)}
                onPointerEnter={name}
                onFocus={name}
                onPointerDown={(event) => void (byFinger.current = event.pointerType === 'touch')}
                onClick={(event) => {
                  // A key that presses has no place, whatever touched the plot before.
                  if (event.detail === 0 || !byFinger.current || dayWidth >= 2 * REACH) return onClick(event);
                  event.preventDefault();
                  setNamed({ point, tapped: true });
                }}
              >
                {/* Over and under the point as well: what counts is the day. */}
                <rect className={styles.room} x={band.from} width={band.to - band.from} y={0} height={HEIGHT} />
                <circle cx={left} cy={top} r={12} className={styles.ring} />
                <circle cx={left} cy={top} r={5} className={styles.dot} />
              </a>
            );
          })}
        </Group>
      </svg>
    </div>
  );
}

/** Where a pointer means this day: halfway to the days beside it, and no farther away than `reach`. */
function bandOf(lefts: readonly number[], index: number, reach: number): { from: number; to: number } {
  const at = lefts[index]!;
  const before = lefts[index - 1] ?? -Infinity;
  const after = lefts[index + 1] ?? Infinity;
  return { from: Math.max((before + at) / 2, at - reach), to: Math.min((at + after) / 2, at + reach) };
}

/** Days that follow one another are joined; a day without a score parts the line. */
function runsOf(points: readonly Point[]): Point[][] {
  const runs: Point[][] = [];
  for (const point of points) {
    const before = runs.at(-1)?.at(-1);
    if (before && daysBetween(before.date, point.date) === 1) runs.at(-1)!.push(point);
    else runs.push([point]);
  }
  return runs;
}

/** As many days as have room for their name; the first and the last are among them. */
function ticksOf(last: number, width: number): number[] {
  const room = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / 72));
  const step = Math.ceil(last / Math.min(room, last));
  return Array.from({ length: Math.floor(last / step) + 1 }, (_tick, index) => last - index * step);
}

function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
