/** What shows when the app itself failed: what happened, what is safe, what to do. */
import { Button } from '#client/ui/button.tsx';
import styles from './full-screen.module.css';

export function ErrorScreen() {
  return (
    <main className={styles.screen}>
      <h1 className={styles.title}>Something broke on our side of the page.</h1>
      <p className={styles.text}>
        Your logs are safe: what was saved is on the server, and what was not is kept in this browser until it is.
      </p>
      <Button tone="primary" onClick={() => location.reload()}>
        Load the page again
      </Button>
    </main>
  );
}
