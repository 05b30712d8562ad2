/** What shows when the code of a screen did not come and there is no other screen to stay on. */
import { useState } from 'react';
import { isServerThere } from '#client/ui/lazy-chunk.ts';
import { Button } from '#client/ui/button.tsx';
import styles from './full-screen.module.css';

export function MissingScreen() {
  const [busy, setBusy] = useState(false);
  const tryAgain = async (): Promise<void> => {
    setBusy(true);
    // Without a server the browser would put a page of its own in the place of this one.
    if (await isServerThere()) location.reload();
    else setBusy(false);
  };

  return (
    <main className={styles.screen}>
      <h1 className={styles.title} tabIndex={-1}>
        This page could not be loaded.
      </h1>
      <p className={styles.text}>Check your connection and try again.</p>
      <Button tone="primary" busy={busy} busyLabel="Loading..." onClick={() => void tryAgain()}>
        Try again
      </Button>
    </main>
  );
}
