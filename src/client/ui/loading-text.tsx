/**
 * "Loading..." within a screen or panel. It appears after a short delay. If an answer takes long or the browser is
 * offline, it says what it waits for (docs/specification/screens.md 2).
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
