/** "Loading..." within a screen or panel. It appears only after a short delay. */
import styles from './loading-text.module.css';

export function LoadingText() {
  return (
    <p className={styles.waiting} role="status">
      Loading...
    </p>
  );
}
