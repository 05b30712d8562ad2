/** Shown when the code of a screen failed to load and there is no previous screen to stay on. */
import { useState } from 'react';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { isServerReachable } from '#client/ui/lazy-chunk.ts';
import { Button } from '#client/ui/button.tsx';
import styles from './full-screen.module.css';

export function ChunkErrorScreen() {
  useDismissEarlyPage();
  const [busy, setBusy] = useState(false);
  const retry = async (): Promise<void> => {
    setBusy(true);
    // Without a server, a reload would replace this screen by the browser's own error page.
    if (await isServerReachable()) location.reload();
    else setBusy(false);
  };

  return (
    <main className={styles.screen}>
      <h1 className={styles.title} tabIndex={-1}>
        This page could not be loaded.
      </h1>
      <p className={styles.text}>Check your connection and try again.</p>
      <Button tone="primary" busy={busy} busyLabel="Loading..." onClick={() => void retry()}>
        Try again
      </Button>
    </main>
  );
}
