/** Shown when rendering or starting the app fails. */
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { Button } from '#client/ui/button.tsx';
import styles from './full-screen.module.css';

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
