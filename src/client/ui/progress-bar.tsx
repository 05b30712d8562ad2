import styles from './progress-bar.module.css';

type ProgressBarProps = { label: string; max?: number | undefined; value?: number | undefined };

/** Without a value it only shows that something happens. */
export const ProgressBar = ({ label, ...bar }: ProgressBarProps) => (
  <progress className={styles.bar} aria-label={label} {...bar} />
);
