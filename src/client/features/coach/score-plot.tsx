/** Plots the HustleScores of a period. A day without a score is a gap in the line. */
import { AxisBottom, AxisLeft } from '@visx/axis';
import { Group } from '@visx/group';
import { scaleLinear } from '@visx/scale';
import { LinePath } from '@visx/shape';
import { useLayoutEffect, useRef, useState, type MouseEvent } from 'react';
import { SCORE_RANGE } from '#domain/coach/coach.ts';
import { addDays, dayLabel, daysBetween, weekdayOf, type Day } from '#domain/day/day.ts';
import { scoreBand, trendSentence } from '#domain/coach/hustle-score.ts';
import { dayPath } from '#domain/routes.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { useNavigate } from '#client/lib/navigation.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';
import { Button } from '#client/ui/button.tsx';
import { useRovingTabindex } from '#client/ui/use-roving-tabindex.ts';
import type { LoggedDay } from './use-logged-days.ts';
import charts from './review-charts.module.css';

const HEIGHT = 260;
const MARGIN = { top: 14, right: 26, bottom: 34, left: 34 };
/** Half of the minimum touch target (WCAG 2.5.8). A tap cannot distinguish days less than twice this radius apart. */
const TOUCH_RADIUS = 12;

type Point = { date: Day; score: number };
type ScorePlotProps = { from: Day; to: Day; today: Day; logged: readonly LoggedDay[] };

export function ScorePlot({ from, to, today, logged }: ScorePlotProps) {
  const [isTable, setIsTable] = useState(false);
  const { features } = useClientConfig();
  const points = logged.filter((day): day is Point => day.score !== null && day.date >= from && day.date <= to);
  const trend = trendSentence(points, today);
  return (
    <section className={charts.section} aria-labelledby="scores">
      <div className={charts.head}>
        <h2 id="scores">HustleScores</h2>
        {points.length > 0 && (
          <Button tone="text" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
            {isTable ? 'Show as chart' : 'Show as table'}
          </Button>
        )}
      </div>
      {points.length === 0 ? (
        <p className={charts.quiet}>
          {features.coach
            ? 'No scores in this period yet. Get feedback on a day to see its HustleScore here.'
            : 'No scores in this period.'}
        </p>
      ) : (
        <>
          {trend && <p className={charts.trend}>{trend}</p>}
          {!isTable && <Plot key={from} from={from} to={to} points={points} />}
          {/* `unseen` is on a wrapper: it sets a size of one pixel, but a table is never smaller than its text. */}
          <div className={isTable ? charts.whole : 'unseen'}>
            <ScoreTable points={points} />
          </div>
        </>
      )}
    </section>
  );
}

/** The text alternative of the plot; also shown on request. */
function ScoreTable({ points }: { points: readonly Point[] }) {
  return (
    <table className={charts.table}>
      <caption className="unseen">HustleScores by day</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Score</th>
          <th scope="col">Rating</th>
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

const shortLabel = ({ date, score }: Point): string =>
  `${weekdayOf(date).slice(0, 3)}, ${shortDate(date)}: ${score} of 10, ${scoreBand(score).word}`;
const fullLabel = ({ date, score }: Point): string => `${dayLabel(date)}: ${score} of 10, ${scoreBand(score).word}`;

function Plot({ from, to, points }: { from: Day; to: Day; points: readonly Point[] }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const navigate = useNavigate();
  /** `tapped`: by touch, which may have missed the intended day, so a link asks for confirmation. */
  const [highlighted, setHighlighted] = useState<{ point: Point; tapped: boolean }>({
    point: points.at(-1)!,
    tapped: false,
  });
  const isTouch = useRef(false);
  const last = Math.max(1, daysBetween(from, to));
  const roving = useRovingTabindex(points.length, points.length - 1, (key, at) =>
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
  const positionOf = ({ date, score }: Point) => ({ left: x(daysBetween(from, date)), top: y(score) });
  const lefts = points.map((point) => positionOf(point).left);
  const dayWidth = x(1) - x(0);
  const linkTo = ({ date }: Point) => ({
    href: dayPath(date),
    onClick: (event: MouseEvent): void => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      void navigate(dayPath(date));
    },
  });

  return (
    <div ref={box} className={charts.plot}>
      <p className={charts.label}>
        <span aria-hidden="true">{shortLabel(highlighted.point)}</span>
        {highlighted.tapped && <a {...linkTo(highlighted.point)}>Open {shortDate(highlighted.point.date)}</a>}
      </p>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="group"
        aria-label="HustleScores by day. Use the left and right arrow keys to move between days."
      >
        <g aria-hidden="true">
          {[4, 6, 8].map((score) => (
            <line
              key={score}
              className={charts.band}
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
            tickLabelProps={{ className: charts.tick ?? '', dx: '-0.2em', dy: '0.32em', textAnchor: 'end' }}
          />
          <AxisBottom
            top={HEIGHT - MARGIN.bottom + 6}
            scale={x}
            tickValues={ticksOf(last, width)}
            tickFormat={(back) => shortDate(addDays(from, Number(back)))}
            hideTicks
            axisLineClassName={charts.line ?? ''}
            tickLabelProps={{ className: charts.tick ?? '', dy: '0.4em', textAnchor: 'middle' }}
          />
        </g>
        <Group>
          {runsOf(points).map((run) => (
            <LinePath
              key={run[0]!.date}
              className={charts.path ?? ''}
              data={run}
              x={(point) => positionOf(point).left}
              y={(point) => positionOf(point).top}
              aria-hidden="true"
            />
          ))}
          {points.map((point, index) => {
            const { left, top } = positionOf(point);
            const { href, onClick } = linkTo(point);
            const target = targetOf(lefts, index, Math.max(TOUCH_RADIUS, dayWidth / 2));
            const highlight = (): void => setHighlighted({ point, tapped: false });
            return (
              <a
                key={point.date}
                {...roving(index)}
                href={href}
                className={charts.point}
                data-dense={dayWidth < 5 || undefined}
                data-band={scoreBand(point.score).name}
                data-highlighted={point.date === highlighted.point.date || undefined}
                aria-label={fullLabel(point)}
                onPointerEnter={highlight}
                onFocus={highlight}
                onPointerDown={(event) => void (isTouch.current = event.pointerType === 'touch')}
                onClick={(event) => {
                  // `detail` is 0 for a click by the keyboard, which is exact, even after a touch.
                  if (event.detail === 0 || !isTouch.current || dayWidth >= 2 * TOUCH_RADIUS) return onClick(event);
                  event.preventDefault();
                  setHighlighted({ point, tapped: true });
                }}
              >
                {/* The target covers the whole height: only the day matters. */}
                <rect className={charts.target} x={target.from} width={target.to - target.from} y={0} height={HEIGHT} />
                <circle cx={left} cy={top} r={12} className={charts.ring} />
                <circle cx={left} cy={top} r={5} className={charts.dot} />
              </a>
            );
          })}
        </Group>
      </svg>
    </div>
  );
}

/** The pointer target of a day: halfway to its neighbours, at most `reach` wide on each side. */
function targetOf(lefts: readonly number[], index: number, reach: number): { from: number; to: number } {
  const at = lefts[index]!;
  const before = lefts[index - 1] ?? -Infinity;
  const after = lefts[index + 1] ?? Infinity;
  return { from: Math.max((before + at) / 2, at - reach), to: Math.min((at + after) / 2, at + reach) };
}

/** Groups consecutive days with a score; each group is one line. */
function runsOf(points: readonly Point[]): Point[][] {
  const runs: Point[][] = [];
  for (const point of points) {
    const before = runs.at(-1)?.at(-1);
    if (before && daysBetween(before.date, point.date) === 1) runs.at(-1)!.push(point);
    else runs.push([point]);
  }
  return runs;
}

/** As many ticks as fit, counted back from the last day. */
function ticksOf(last: number, width: number): number[] {
  const fitting = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / 72));
  const step = Math.ceil(last / Math.min(fitting, last));
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
