/** The rules of the service worker: which requests it answers, and which responses it may store. */
import type { Day } from '#domain/day/day.ts';
import { SHARE_PATH } from '#domain/shared-text.ts';
import { routePath, ROUTES } from '#domain/routes.ts';
import { findAuthLink } from '#client/lib/boot/auth-link.ts';

/** `network`: only the server answers, and the request reaches it once, as if there were no worker. */
export type Handling = 'asset' | 'page' | 'share' | 'network';

/** The names of the worker's caches start with this, so that removing the worker leaves other caches alone. */
export const CACHE_PREFIX = 'hustle-forge:';
/** Hashed files of all versions: a name never gets another content, so versions share the cache. */
export const ASSET_CACHE = `${CACHE_PREFIX}assets`;
/** The cache of one version of the worker, for the HTML pages that refer to this version's hashed files. */
export const shellCache = (version: string): string => `${CACHE_PREFIX}shell:${version}`;

/** The cache of the data with which the worker subscribes again (`DeviceInWorker`). */
export const PUSH_CACHE = `${CACHE_PREFIX}push`;
export const PUSH_DEVICE_PATH = '/push/device';

/** Deletes the worker's caches, except that of the push device: the next worker subscribes again with it. */
export async function deleteWorkerCaches(): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX) && name !== PUSH_CACHE);
  await Promise.all(names.map((name) => caches.delete(name)));
}

export const SERVICE_WORKER_PATH = '/service-worker.js';

export const SHELL_PATH = ROUTES.journal.path;
export const ASSET_FOLDER = '/assets/';

/** Pages that open from the cached app shell. Each prerendered page has its own HTML instead. */
const SHELL_PAGES: ReadonlySet<string> = new Set(
  (
    [
      'login',
      'signup',
      'forgotPassword',
      'journal',
      'reviews',
      'year',
      'wins',
      'settings',
      'profile',
      'receipt',
    ] as const
  ).map((name) => ROUTES[name].path),
);

type PageRequest = Pick<Request, 'method' | 'mode' | 'url'>;

export function handlingOf({ method, mode, url }: PageRequest, origin: string): Handling {
  const { origin: target, pathname, search } = new URL(url);
  if (target !== origin || method !== 'GET') return 'network';
  if (mode !== 'navigate') return pathname.startsWith(ASSET_FOLDER) ? 'asset' : 'network';
  if (pathname === SHARE_PATH) return 'share';
  // The URL of a mailed link has a token that works once. Only the network answers it, so that the user sees when the
  // server is unreachable.
  if (findAuthLink({ pathname, search, hash: '' })) return 'network';
  return pathname === ROUTES.landing.path || SHELL_PAGES.has(routePath(pathname)) ? 'page' : 'network';
}

/** The cached HTML for a path: the landing page has its own, all other pages share the app shell. */
export const shellPathOf = (pathname: string): string =>
  pathname === ROUTES.landing.path ? ROUTES.landing.path : SHELL_PATH;

/** False if the server cannot answer at the moment (5xx). Any other answer, also a redirect, is shown to the user. */
export const isServerAnswer = ({ status }: Pick<Response, 'status'>): boolean => status < 500;

type Answer = Pick<Response, 'ok' | 'redirected' | 'type' | 'headers'>;

const TYPES: Readonly<Record<string, RegExp>> = {
  js: /^text\/javascript/,
  css: /^text\/css/,
  woff2: /^font\/woff2/,
  svg: /^image\/svg/,
  png: /^image\/png/,
};

/**
 * True for a complete file from this server whose content type fits its name. Threat: a hotel's sign-in page or a
 * proxy's error page, answered with status 200, would be stored as a script for good.
 */
export function isStorableAsset(path: string, { ok, redirected, type, headers }: Answer): boolean {
  const expected = TYPES[path.slice(path.lastIndexOf('.') + 1)];
  return ok && !redirected && type === 'basic' && expected?.test(headers.get('content-type') ?? '') === true;
}

/**
 * True for a page from this server that refers only to files of this version. During a release, servers of two versions
 * may answer. A page of the other version would not start offline, because this version's worker does not store its
 * files.
 */
export function isStorableShell(
  { ok, redirected, type, headers }: Answer,
  html: string,
  files: ReadonlySet<string>,
): boolean {
  const named = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!);
  const isOurs = ok && !redirected && type === 'basic' && headers.get('content-type')?.startsWith('text/html') === true;
  return isOurs && named.length > 0 && named.every((path) => files.has(path));
}

/** Paths of the asset cache that no open page can need. Empty if several pages are open: one may be an older build. */
export function outdatedAssets(
  stored: readonly string[],
  files: ReadonlySet<string>,
  openPages: number,
): readonly string[] {
  // Files outside the list, such as fonts of other alphabets, are stored again when they are used.
  return openPages > 1 ? [] : stored.filter((path) => !files.has(path));
}

/** Messages from a page to the service worker. */
export type PageMessage =
  /** A page of the worker's version is open: the worker may delete files that no open page needs. */
  | { type: 'sameVersion' }
  /** Answered through the message's port with whether the worker's version has all of these files. */
  | { type: 'hasFiles'; paths: readonly string[] }
  /** The user has signed out, maybe without a connection: this browser shows no reminders any more. */
  | { type: 'signedOut' };

/** Messages from the service worker to a page. */
export type WorkerMessage =
  /** A notification was opened. A page that then opens the day answers through the message's port. */
  { type: 'openDay'; day: Day };

export type DeviceInWorker = {
  renewalToken: string;
  /** The server's key, in base64url. */
  publicKey: string;
};
