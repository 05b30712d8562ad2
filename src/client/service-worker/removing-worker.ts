/** Replaces the service worker on a server with SERVICE_WORKER=off: deletes the worker's caches and unregisters it. */
import { deleteWorkerCaches } from '../lib/service-worker-rules.ts';

declare const self: ServiceWorkerGlobalScope;

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(remove()));

/** Open pages stay as they are: a reload could interrupt the user's typing. */
async function remove(): Promise<void> {
  await self.registration.unregister();
  await deleteWorkerCaches();
}
