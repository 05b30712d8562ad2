/**
 * The service worker: opens the app's pages while the server is slow or unreachable, from hashed files and pages
 * without any user's data (docs/specification/product.md 7). Any failure inside falls back to the network.
 */
import { sharedTextAddress } from '#domain/shared-text.ts';
import { ROUTES } from '#domain/routes.ts';
import { forgetDevice, handleReminders } from './reminders.ts';
import {
  ASSET_CACHE,
  ASSET_FOLDER,
  CACHE_PREFIX,
  handlingOf,
  isServerAnswer,
  isStorableAsset,
  isStorableShell,
  outdatedAssets,
  PUSH_CACHE,
  SHELL_PATH,
  shellCache,
  shellPathOf,
  type PageMessage,
} from '../lib/service-worker-rules.ts';

declare const self: ServiceWorkerGlobalScope;
/** The hashed files of this build; the build fills them in (scripts/vite/classic-scripts.ts). */
declare const BUILT_FILES: readonly string[];
/** The server replaces this string with a hash of the HTML pages that the worker stores, which depend on settings. */
const SHELL_VERSION = 'hustle-forge-shell-version';

/** After this time without a response, a page opens from the cache. */
const NETWORK_TIMEOUT_MS = 1_000;
/**
 * After a page has opened from the cache, its request to the server keeps the worker busy for at most this long. A new
 * version waits until the worker is idle. Chromium's own limit is five minutes.
 */
const ANSWER_LIMIT_MS = 10_000;
const MAX_CONCURRENT_DOWNLOADS = 4;

const FILES: ReadonlySet<string> = new Set(BUILT_FILES);
const SHELL = shellCache(SHELL_VERSION);

self.addEventListener('install', (event) => {
  // Activating at once is safe: pages come from the network first, and files of open pages stay in the cache.
  event.waitUntil(Promise.all([bypassWorker(event), install()]).then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('fetch', handleFetch);
handleReminders();
self.addEventListener('message', (event) => {
  const message = event.data as PageMessage;
  if (message.type === 'hasFiles') event.ports[0]?.postMessage(message.paths.every((path) => FILES.has(path)));
  else event.waitUntil(message.type === 'signedOut' ? forgetDevice() : deleteOutdatedAssets());
});

/** The types of TypeScript lack this method, and so do Firefox and Safari. */
type RoutedEvent = ExtendableEvent & { addRoutes?: (rule: object) => Promise<void> };

/**
 * Lets Chromium send requests that the worker does not answer (`handlingOf`) straight to the server. Otherwise each
 * save and live update would start a stopped worker, and would keep a new version waiting for up to five minutes.
 */
async function bypassWorker(event: RoutedEvent): Promise<void> {
  const isHandled = { or: [{ requestMode: 'navigate' }, { urlPattern: `${ASSET_FOLDER}*` }] };
  // Best effort: older versions of Chromium do not know `not`.
  await event.addRoutes?.({ condition: { not: isHandled }, source: 'network' }).catch(() => undefined);
}

async function install(): Promise<void> {
  const [assets, shell] = await Promise.all([caches.open(ASSET_CACHE), caches.open(SHELL)]);
  await Promise.all([SHELL_PATH, ROUTES.landing.path].map((path) => storeShell(shell, path)));
  const stored = new Set(await pathsIn(assets));
  const missing = BUILT_FILES.filter((path) => !stored.has(path));
  const download = async (): Promise<void> => {
    for (let path = missing.pop(); path !== undefined; path = missing.pop()) await storeAsset(assets, path);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_DOWNLOADS }, download));
}

async function storeShell(cache: Cache, path: string): Promise<void> {
  const response = await fetch(path, { cache: 'no-store' });
  if (!isStorableShell(response, await response.clone().text(), FILES))
    throw new Error(`${path} is of another version`);
  await cache.put(path, response);
}

async function storeAsset(cache: Cache, path: string): Promise<void> {
  const response = await fetch(path);
  if (!isStorableAsset(path, response)) throw new Error(`${path} cannot be stored`);
  await cache.put(path, response);
}

async function activate(): Promise<void> {
  const outdated = (await caches.keys()).filter(
    (name) => name.startsWith(CACHE_PREFIX) && ![ASSET_CACHE, SHELL, PUSH_CACHE].includes(name),
  );
  await Promise.all(outdated.map((name) => caches.delete(name)));
  await self.clients.claim();
  // Navigation preload: the browser requests the page while it starts the worker. The header names the worker's
  // version, so the server sends no preloads of files that the worker has (server/http/pages.ts).
  await self.registration.navigationPreload?.enable();
  await self.registration.navigationPreload?.setHeaderValue(SHELL_VERSION);
}

/** Runs when a page says that it is of this version. */
async function deleteOutdatedAssets(): Promise<void> {
  const assets = await caches.open(ASSET_CACHE);
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const outdated = outdatedAssets(await pathsIn(assets), FILES, pages.length);
  await Promise.all(outdated.map((path) => assets.delete(path)));
}

const pathsIn = async (cache: Cache): Promise<string[]> =>
  (await cache.keys()).map((request) => new URL(request.url).pathname);

function handleFetch(event: FetchEvent): void {
  const { request } = event;
  switch (handlingOf(request, self.location.origin)) {
    case 'asset':
      return event.respondWith(answerAsset(event).catch(() => fetch(request)));
    case 'page':
      return event.respondWith(answerPage(event).catch(() => fetch(request)));
    case 'share':
      return event.respondWith(
        Response.redirect(
          sharedTextAddress((name) => new URL(request.url).searchParams.get(name)),
          303,
        ),
      );
    case 'network':
      // The browser has already sent a preloaded navigation, and would send it again if the worker did not answer. A
      // mailed link or the return from a provider works only once.
      if (request.mode === 'navigate' && request.method === 'GET') event.respondWith(askServer(event));
  }
}

async function answerAsset(event: FetchEvent): Promise<Response> {
  const { pathname } = new URL(event.request.url);
  const assets = await caches.open(ASSET_CACHE);
  const cached = await assets.match(pathname, { ignoreVary: true });
  if (cached) return cached;
  const response = await fetch(event.request);
  if (isStorableAsset(pathname, response)) {
    const copy = response.clone();
    // Best effort: a full storage must not fail the request.
    event.waitUntil(assets.put(pathname, copy).catch(() => undefined));
  }
  return response;
}

async function answerPage(event: FetchEvent): Promise<Response> {
  const { pathname } = new URL(event.request.url);
  const answered = askServer(event);
  // Keeps the request alive after the cached shell is shown. Otherwise the browser would cancel it and log an error.
  event.waitUntil(Promise.race([answered.catch(() => undefined), delay(ANSWER_LIMIT_MS)]));
  const shell = caches.match(shellPathOf(pathname), { cacheName: SHELL, ignoreVary: true });
  const inTime = await Promise.race([answered.catch(() => null), delay(NETWORK_TIMEOUT_MS)]);
  if (inTime && isServerAnswer(inTime)) return inTime;
  return (await shell) ?? answered;
}

const delay = (ms: number): Promise<null> => new Promise((resolve) => void setTimeout(resolve, ms, null));

async function askServer({ preloadResponse, request }: FetchEvent): Promise<Response> {
  return ((await preloadResponse) as Response | undefined) ?? fetch(request);
}
