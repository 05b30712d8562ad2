/** A progress bar with its value as text: `2,140 of 3,650 logs`. */
import type { Progress } from './export/export-run.ts';
import styles from './settings.module.css';

type ProgressLineProps = { label: string; progress: Progress | null; unit: string };

export function ProgressLine({ label, progress, unit }: ProgressLineProps) {
  const text = progress
    ? `${progress.done.toLocaleString('en-US')} of ${progress.total.toLocaleString('en-US')} ${unit}`
    : 'Loading...';
  return (
    <div className={styles.progress}>
      <progress aria-label={label} max={progress?.total} value={progress?.done} />
      <p className={styles.note}>{text}</p>
    </div>
  );
}
