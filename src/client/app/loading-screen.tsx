/** The full-screen "Loading..." of product.md 2; it appears only when the wait is long enough to be noticed. */
import styles from './full-screen.module.css';

export function LoadingScreen() {
  return (
    <main className={styles.screen} aria-busy="true">
      <p className={styles.loading} role="status">
        Loading...
      </p>
    </main>
  );
}
