import { CACHE_PREFIX } from '#client/service-worker/rules.ts';

export const SERVICE_WORKER_PATH = '/service-worker.js';

/**
 * Removes the service worker and reloads if an error stops the page before it shows anything, because the worker's files
 * may be broken. Without a server the page stays as it is: the worker may hold the only copy of the app.
 */
export function watchStart(): void {
  if (!navigator.serviceWorker?.controller) return;
  const hasStarted = (): boolean => document.querySelector('#root:empty') === null;
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

/** Removes the service worker and its caches, which hold only public files, never a user's data. */
export async function removeServiceWorker(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.unregister();
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  await Promise.all(names.map((name) => caches.delete(name)));
}
