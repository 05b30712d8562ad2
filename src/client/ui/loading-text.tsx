/** A wait inside a page or panel, in words; it appears only when the wait is long enough to be noticed. */
import styles from './loading-text.module.css';

export function LoadingText() {
  return (
    <p className={styles.waiting} role="status">
      Loading...
    </p>
  );
}
