/** A bar and the same in words: `2,140 of 3,650 logs`. */
import type { Progress } from './export/export-run.ts';
import styles from './settings.module.css';

type ProgressLineProps = { label: string; progress: Progress | null; of: string };

export function ProgressLine({ label, progress, of }: ProgressLineProps) {
  const words = progress
    ? `${progress.done.toLocaleString('en-US')} of ${progress.total.toLocaleString('en-US')} ${of}`
    : 'One moment...';
  return (
    <div className={styles.progress}>
      <progress aria-label={label} max={progress?.total} value={progress?.done} />
      <p className={styles.note}>{words}</p>
    </div>
  );
}
