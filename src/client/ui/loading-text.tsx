/**
 * "Loading..." within a screen or panel. It appears only after a short delay, and says what it waits for when an answer
 * takes long (docs/specification/screens.md 2).
 */
import styles from './loading-text.module.css';

export function LoadingText({ text = 'Loading...' }) {
  return (
    <p className={styles.waiting} role="status">
      {text}
      <span className={navigator.onLine ? styles.slow : undefined}>Waiting for a connection to the server.</span>
    </p>
  );
}
