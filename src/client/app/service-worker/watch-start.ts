import { deleteWorkerCaches, SERVICE_WORKER_PATH } from '#client/lib/service-worker-rules.ts';

/** Longer than a first visit takes at 400 kbit/s. */
const LATE_START_MS = 15_000;

/**
 * Removes the service worker and reloads if an error happens before React has rendered anything, because the worker's
 * files may be broken. If the server does not answer or fails, the page stays as it is: the worker may hold the only
 * copy of the app. Also shows the note about a late start.
 */
export function watchStart(): void {
  tellOfLateStart();
  if (!navigator.serviceWorker?.controller) return;
  const onError = async (): Promise<void> => {
    if (hasStarted()) return;
    const answer = await fetch(SERVICE_WORKER_PATH, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
    // The page may have started while the server was asked, and the user may be typing.
    if (answer === null || answer.status >= 500 || hasStarted()) return;
    await removeServiceWorker();
    location.reload();
  };
  // The events of scripts that fail to load do not bubble, so listen in the capture phase.
  addEventListener('error', () => void onError(), { capture: true, once: true });
}

const hasStarted = (): boolean => document.querySelector('#root:empty') === null;

/**
 * Shows the note in the app's page (app.html) after an error, or after LATE_START_MS. The style sheet hides the note
 * once React has rendered something.
 */
function tellOfLateStart(): void {
  const show = (): void => document.getElementById('late-start')?.removeAttribute('hidden');
  addEventListener('error', () => !hasStarted() && show(), { capture: true });
  setTimeout(show, LATE_START_MS);
}

/**
 * Removes the service worker and its files. The push subscription ends with the worker; what is stored of it stays, so
 * that `followSession` subscribes again.
 */
export async function removeServiceWorker(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.unregister();
  await deleteWorkerCaches();
}
