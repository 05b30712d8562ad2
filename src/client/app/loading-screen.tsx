/** The full-screen "Loading..." (docs/specification/screens.md 2). */
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './full-screen.module.css';

export function LoadingScreen() {
  return (
    <main className={styles.screen} aria-busy="true">
      <LoadingText />
    </main>
  );
}
