/** HustleScores over the period. A day without one is a gap, never a zero. */
import { AxisBottom, AxisLeft } from '@visx/axis';
import { Group } from '@visx/group';
import { scaleLinear } from '@visx/scale';
import { LinePath } from '@visx/shape';
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';
import { SCORES } from '#domain/coach.ts';
import { addDays, dayLabel, daysBetween } from '#domain/day.ts';
import type { Day } from '#domain/day.ts';
import { scoreBand } from '#domain/hustle-score.ts';
import { ROUTES } from '#domain/routes.ts';
import { shortDate } from '#domain/win-bullets.ts';
import { useClientConfig } from '#client/lib/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import pictures from './review-pictures.module.css';
import { useRoving } from './roving.ts';
import styles from './score-plot.module.css';
import type { LoggedDay } from './use-logged-days.ts';

const HEIGHT = 260;
const MARGIN = { top: 14, right: 26, bottom: 34, left: 34 };

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
          <ScoreTable points={points} shown={asTable} />
        </>
      )}
    </section>
  );
}

/** What somebody who hears the page is given in place of the picture, and anybody who asks for it. */
function ScoreTable({ points, shown }: { points: readonly Point[]; shown: boolean }) {
  return (
    <table className={shown ? styles.table : 'unseen'}>
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

const inWords = ({ date, score }: Point): string => `${dayLabel(date)}: ${score} of 10, ${scoreBand(score).word}`;

function Plot({ from, today, points }: { from: Day; today: Day; points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const navigate = useNavigate();
  const [named, setNamed] = useState<Point | null>(null);
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
  const y = scaleLinear({ domain: [SCORES.least, SCORES.most], range: [HEIGHT - MARGIN.bottom, MARGIN.top] });
  const placeOf = ({ date, score }: Point) => ({ left: x(daysBetween(from, date)), top: y(score) });

  return (
    <div ref={box} className={styles.plot}>
      <p className={styles.named} aria-hidden="true">
        {inWords(named ?? points.at(-1)!)}
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
            const href = `${ROUTES.journal.path}?date=${point.date}`;
            return (
              <a
                key={point.date}
                {...roving(index)}
                href={href}
                className={styles.point}
                data-band={scoreBand(point.score).name}
                aria-label={inWords(point)}
                onPointerEnter={() => setNamed(point)}
                onFocus={() => setNamed(point)}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                  event.preventDefault();
                  void navigate({ to: ROUTES.journal.path, search: { date: point.date } as never });
                }}
              >
                {/* A finger's room around a point that is small. */}
                <circle cx={left} cy={top} r={12} className={styles.room} />
                <circle cx={left} cy={top} r={5} className={styles.dot} />
              </a>
            );
          })}
        </Group>
      </svg>
    </div>
  );
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
