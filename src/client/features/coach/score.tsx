/** A HustleScore, drawn large: the number, and in words what its colour says. */
import { scoreBand } from '#domain/coach/hustle-score.ts';
import styles from './coach-panel.module.css';

/** Null keeps the place of a score that is not known yet. */
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
