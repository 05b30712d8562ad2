/** The screens that fill the window in the place of a page: waiting, and the errors that leave no page to stay on. */
import { Component, useState, type ReactNode } from 'react';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { Button } from '#client/ui/button.tsx';
import { isServerReachable } from '#client/ui/lazy-chunk.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import styles from './full-screen.module.css';

/** "Loading..." (docs/specification/screens.md 2). */
export function LoadingScreen() {
  return (
    <main className={styles.screen} aria-busy="true">
      <LoadingText />
    </main>
  );
}

/** Shows the error screen instead of an empty page when rendering throws. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { hasError: boolean }> {
  override state = { hasError: false };

  static getDerivedStateFromError() {
    return { hasError: true };
  }

  override render() {
    return this.state.hasError ? <ErrorScreen /> : this.props.children;
  }
}

/** Shown when rendering or starting the app fails. */
export function ErrorScreen() {
  useDismissEarlyPage();
  return (
    <main className={styles.screen}>
      <h1 className={styles.title}>Something went wrong.</h1>
      <p className={styles.text}>
        {isStorageBlocked()
          ? 'Your browser blocks cookies and site data. Allow them for this site, then reload the page.'
          : 'Your logs are safe. Saved text is on the server, and unsaved text stays in this browser until it is sent.'}
      </p>
      <Button tone="primary" onClick={() => location.reload()}>
        Reload the page
      </Button>
    </main>
  );
}

/** The app keeps the session and unsaved text in localStorage, so it cannot work where the browser blocks storage. */
function isStorageBlocked(): boolean {
  try {
    return !localStorage;
  } catch {
    return true;
  }
}

/** Shown when the code of a screen failed to load and there is no previous screen to stay on. */
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
