/** Samples of the coach's work for users and visitors without the premium plan: real markup about made-up logs. */
import { addDays, dayLabel, dayOf } from '#domain/day/day.ts';
import { shortDate } from '#domain/coach/win-bullets.ts';
import { scoreBand } from '#domain/coach/hustle-score.ts';
import styles from './coach-sample.module.css';

const FIRST_DAY = dayOf(new Date(2026, 2, 2));
/** The HustleScores of two weeks; null on days without a log. */
const SCORES = [6, 7, 8, 5, 4, null, null, 6, 9, 8, 4, 3, null, 7] as const;
const LOG = [
  'Shipped the import fix, no open errors',
  'Polished a deck nobody asked for',
  'Called the customer I had avoided all week',
] as const;
const CITED_LINES = new Set([2, 3]);

/** A log with its feedback. `hasPlot` adds the scores of the days around it. */
export function SampleDay({ hasPlot = false }: { hasPlot?: boolean }) {
  return (
    <figure className={styles.sample}>
      <figcaption className={styles.caption}>A sample log and its feedback</figcaption>
      <div className={styles.parts} data-plot={hasPlot || undefined}>
        <div className={styles.log}>
          <p className={styles.day}>{dayLabel(addDays(FIRST_DAY, 1))}</p>
          <ol>
            {LOG.map((line, index) => (
              <li key={line}>
                <span className={CITED_LINES.has(index + 1) ? styles.cited : undefined}>{line}</span>
              </li>
            ))}
          </ol>
        </div>
        <div className={styles.verdict}>
          <Score score={SCORES[1]} />
          <p>
            The call <LineNumber line={3} /> was the real work: you did what you kept putting off. The deck{' '}
            <LineNumber line={2} /> was hiding with better fonts. Tomorrow, call first.
          </p>
        </div>
        {hasPlot && <Plot />}
      </div>
    </figure>
  );
}

/** The scores of two weeks, and a sentence of a review about them. */
export function SampleReview() {
  return (
    <figure className={styles.sample}>
      <figcaption className={styles.caption}>A sample review of two weeks</figcaption>
      <div className={styles.parts}>
        <Plot />
        <p>
          Your best days, <span className={styles.number}>{shortDate(addDays(FIRST_DAY, 2))}</span> and{' '}
          <span className={styles.number}>{shortDate(addDays(FIRST_DAY, 8))}</span>, began with the call you did not
          want to make. Both Fridays went to meetings and scored 4 or less.
        </p>
      </div>
    </figure>
  );
}

function LineNumber({ line }: { line: number }) {
  return (
    <span className={styles.number}>
      <span className="unseen">line </span>
      {line}
    </span>
  );
}

const WIDTH = 320;
const HEIGHT = 112;
const PADDING = 8;
const xOf = (index: number): number => PADDING + (index * (WIDTH - 2 * PADDING)) / (SCORES.length - 1);
const yOf = (score: number): number => PADDING + ((10 - score) * (HEIGHT - 2 * PADDING)) / 9;

function Plot() {
  const points = SCORES.flatMap((score, index) => (score === null ? [] : [{ score, index }]));
  // A day without a score is a gap in the line.
  const path = points
    .map(
      ({ score, index }) => `${SCORES[index - 1] == null ? 'M' : 'L'}${xOf(index).toFixed(1)} ${yOf(score).toFixed(1)}`,
    )
    .join('');
  return (
    <div className={styles.plot}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="HustleScores of two weeks, between 3 and 9 of 10">
        {[4, 6, 8].map((score) => (
          <line key={score} className={styles.band} x1={0} x2={WIDTH} y1={yOf(score)} y2={yOf(score)} />
        ))}
        <path className={styles.line} d={path} />
        {points.map(({ score, index }) => (
          <circle
            key={index}
            className={styles.dot}
            data-band={scoreBand(score).name}
            cx={xOf(index).toFixed(1)}
            cy={yOf(score).toFixed(1)}
            r={4.5}
          />
        ))}
      </svg>
      <p className={styles.ends}>
        <span>{shortDate(FIRST_DAY)}</span>
        <span>HustleScores</span>
        <span>{shortDate(addDays(FIRST_DAY, SCORES.length - 1))}</span>
      </p>
    </div>
  );
}

/** A large HustleScore: the number, and its colour band as a word. Null renders a placeholder. */
export function Score({ score }: { score: number | null }) {
  const band = score === null ? null : scoreBand(score);
  return (
    <p className={styles.score} data-band={band?.name}>
      <strong>{score ?? '–'}</strong>
      <span>
        of 10{band && ` · ${band.word}`}
        <br />
        HustleScore
      </span>
    </p>
  );
}
