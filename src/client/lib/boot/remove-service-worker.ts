/** Removes the service worker and its caches, which hold only public files, never a user's data. */
import { CACHE_PREFIX } from '#client/service-worker/rules.ts';

export const SERVICE_WORKER_PATH = '/service-worker.js';

export async function removeServiceWorker(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.unregister();
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  await Promise.all(names.map((name) => caches.delete(name)));
}
