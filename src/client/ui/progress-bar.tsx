import styles from './progress-bar.module.css';

type ProgressBarProps = { label: string; max?: number | undefined; value?: number | undefined };

/** Indeterminate without `value`. */
export const ProgressBar = ({ label, ...bar }: ProgressBarProps) => (
  <progress className={styles.bar} aria-label={label} {...bar} />
);
