/** A wait inside a page or panel, in words; it appears only when the wait is long enough to be noticed. */
import styles from './waiting.module.css';

export function Waiting() {
  return (
    <p className={styles.waiting} role="status">
      Loading...
    </p>
  );
}
