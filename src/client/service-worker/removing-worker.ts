/** Replaces the service worker on a server with SERVICE_WORKER=off: deletes the worker's caches and unregisters it. */
import { CACHE_PREFIX, PUSH_CACHE } from '../lib/service-worker-rules.ts';

declare const self: ServiceWorkerGlobalScope;

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(remove()));

/** Open pages stay as they are: a reload could interrupt the user's typing. */
async function remove(): Promise<void> {
  await self.registration.unregister();
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX) && name !== PUSH_CACHE);
  await Promise.all(names.map((name) => caches.delete(name)));
}
