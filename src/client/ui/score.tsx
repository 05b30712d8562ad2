/** A large HustleScore: the number, and its colour band as a word. */
import { scoreBand } from '#domain/coach/hustle-score.ts';
import styles from './score.module.css';

/** Null renders a placeholder. */
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
