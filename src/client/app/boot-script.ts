/**
 * Runs before the first paint on every page: removes the tokens of an auth link from the URL, applies theme and font,
 * and redirects a signed-in user from the landing page to the journal. While the app's code loads, it prefetches what
 * the page of a signed-in user reads first, and opens today's log. It stores text that another app shared.
 */
import type { ClientConfig } from '#domain/client-config.ts';
import { initialDay } from '#domain/day/current-day.ts';
import type { Day } from '#domain/day/day.ts';
import { sharedTextOf } from '#domain/shared-text.ts';
import { routePath, ROUTES } from '#domain/routes.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import { readLog, readLoggedDates, readProfile, urlsOf } from '#client/lib/api/first-reads.ts';
import { toStoredLog, type LogRow } from '#client/lib/api/log-row.ts';
import { prefetch } from '#client/lib/boot/prefetch.ts';
import { openEarlyPage, type EarlyLog } from '#client/lib/boot/early-page.ts';
import { hasDraft, readTodayCopy } from '#client/lib/boot/today-copy.ts';
import { holdEarlySubmit } from '#client/lib/boot/early-form.ts';
import { findAuthLink, type AuthLink } from '#client/lib/boot/auth-link.ts';
import type { InstallPrompt } from './layout/install.ts';
import { watchStart } from './service-worker/watch-start.ts';
import { applyEditorFont, applyTheme, localToday, subscribeToTheme } from '#client/lib/session/browser-preferences.ts';
import { sessionStorageKey, SHARED_TEXTS_PREFIX } from '#client/lib/session/storage-keys.ts';
import { readStoredSession } from '#client/lib/session/stored-session.ts';

/** Matches a window of the installed app. Leaves out `fullscreen`, which a tab of the browser can have too. */
const INSTALLED_APP = '(display-mode: standalone), (display-mode: minimal-ui)';

/**
 * The code that opens a screen before React, by route. The build preloads what a route's property imports
 * (scripts/vite/route-chunks.ts).
 */
const EARLY_EDITORS = { journal: () => import('#client/features/journal/early/early-editor.ts') };

const { page } = document.documentElement.dataset;
const link = findAuthLink(location);
if (link) consumeAuthLink(link);
// Pasting a link into the address bar of an open page may change only the fragment, which loads no page.
addEventListener('hashchange', () => findAuthLink(location) && location.reload());

watchStart();
holdEarlySubmit();
// Without a service worker's copy the serif font, 58 KB, waits for the app's code (router.tsx, tokens.css).
// Not on the page of the reviews: the coach's consent and the offer wrap another way in the fallback font.
if (page === 'app' && !hasWorker() && location.pathname !== ROUTES.reviews.path)
  document.documentElement.dataset['lateFonts'] = 'serif';
// The browser shows no offer of its own: the menu offers the installation (layout/install.ts).
addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault();
  globalThis.hustleForgeInstall = event as InstallPrompt;
});
applyTheme();
applyEditorFont();
// Follows theme changes on pages without any other script too.
subscribeToTheme(() => undefined);

try {
  if (!link && page === 'landing' && localStorage.getItem(sessionStorageKey(settings().apiUrl)))
    location.replace('/journal');
  if (page === 'app') openApp(settings());
} catch {
  // Best effort: if storage is blocked or full, the app starts without a redirect and without prefetched data.
}

/** `serviceWorker` is undefined without https, except on localhost. */
function hasWorker(): boolean {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  return Boolean(workers?.controller);
}

/**
 * Threat: tokens that stay in the URL end up in bookmarks, shared links and the history. The landing and legal pages
 * cannot handle an auth link, so they pass it to the app in a fragment. A fragment is not sent to a server, and the
 * app's boot script removes it from the history.
 */
function consumeAuthLink({ path, params }: AuthLink): void {
  history.replaceState(null, '', page === 'app' ? path : location.pathname);
  if (page === 'app') globalThis.hustleForgeAuthLink = params;
  else location.replace(`${path}#${params}`);
}

/**
 * Stores a text that another app shared, and removes it from the URL unless the browser refuses to store it.
 *
 * Threat: a site opens this address to put its own text into the user's log. The operating system opens a share only in
 * the window of the installed app. A text that arrives in a tab is therefore stored for this tab alone, and the journal
 * asks the user before it adds the text (`features/journal/arrived-text.ts`).
 */
function storeSharedText({ apiUrl }: Settings): void {
  const text = sharedTextOf(location.hash);
  if (text === null) return;
  const storage = matchMedia(INSTALLED_APP).matches ? localStorage : sessionStorage;
  const key = SHARED_TEXTS_PREFIX + (readStoredSession(apiUrl, false)?.user.id ?? '');
  const texts = JSON.parse(storage.getItem(key) ?? '[]') as string[];
  storage.setItem(key, JSON.stringify([...texts, text]));
  history.replaceState(null, '', `${location.pathname}?date=${localToday()}`);
}

function openApp(config: Settings): void {
  const access = Object.values(ROUTES).find(({ path }) => path === routePath(location.pathname))?.access;
  const isForMembers = access === 'protected';
  const isSignedIn = readStoredSession(config.apiUrl, false) !== null;
  // Shows the frame of this route, unless the app will show another page: that of a redirect or of the auth link.
  if (!link && isForMembers === isSignedIn) document.documentElement.dataset['frame'] = '';
  if (location.pathname !== ROUTES.journal.path) {
    if (isForMembers) void prefetchReads(config, (data, id) => [readProfile(data, id)]);
    return;
  }
  storeSharedText(config);
  openJournal(config);
  const { hustleForgeEarlyStart: early } = globalThis;
  // A worker has the app's code, which needs no preload then.
  if (hasWorker()) return insertPreloads(':not([rel=modulepreload])');
  if (!early) return insertPreloads('*');
  document.documentElement.dataset['lateFonts'] = 'all';
  void early.then(() => insertPreloads(':not([as=font])'));
}

/** Inserts preloads that the server leaves to this script (server/http/pages.ts). */
function insertPreloads(selector: string): void {
  const template = document.querySelector<HTMLTemplateElement>('#late-preloads');
  if (template) document.head.append(...template.content.querySelectorAll(selector));
}

/** Shows today's log from the local copy, or from the server's answer, unless another screen comes first. */
function openJournal(config: Settings): void {
  const today = localToday();
  const prefetchDay = (): Promise<Response>[] =>
    prefetchReads(config, (data, id) => [readLog(data, id, today), readLoggedDates(data, id)]);
  const prefetchProfile = () => prefetchReads(config, (data, id) => [readProfile(data, id)]);
  const prefetchJournal = () => [...prefetchDay(), ...prefetchProfile()];
  const userId = readStoredSession(config.apiUrl, false)?.user.id;
  const isPaymentReturn = new URLSearchParams(location.search).has('payment');
  if (userId === undefined || link || isPaymentReturn) return void prefetchJournal();
  const copy = readTodayCopy(localStorage, userId, today);
  const open = (log: EarlyLog | Promise<EarlyLog | null>) => openEarlyPage(EARLY_EDITORS.journal, userId, today, log);
  // The early page shows a copy of the text already, so the requests wait until its editor takes keys.
  if (copy) return void Promise.resolve(open({ stored: copy })).then(prefetchJournal);
  // Without an early page: with a worker, React starts before the answer comes, and a draft has newer text than that.
  if (hasWorker() || hasDraft(localStorage, userId, today)) return void prefetchJournal();
  // The profile is read last, because only React needs it, and React waits for the early page.
  void Promise.resolve(open(readAnswers(prefetchDay(), today))).then(prefetchProfile);
}

/** Null if the journal may open on another day, or a read fails. The app's own requests take the same responses. */
async function readAnswers(answers: Promise<Response>[], today: Day): Promise<EarlyLog | null> {
  try {
    const read = async (at: number) => (await answers[at]!).clone().json() as Promise<unknown>;
    const [row] = (await read(0)) as LogRow[];
    if (row) return { stored: toStoredLog(row) };
    const [latest] = (await read(1)) as { date: Day }[];
    return initialDay(true, latest?.date ?? null, today) === today ? { stored: null } : null;
  } catch {
    return null;
  }
}

type Settings = { apiUrl: string; publishableKey: string };

function settings(): Settings {
  const json = document.querySelector<HTMLMetaElement>('meta[name="hustle-forge-config"]')?.content;
  const { apiUrl = '', publishableKey = '' } = json ? (JSON.parse(json) as ClientConfig) : {};
  return { apiUrl: apiUrl || location.origin, publishableKey };
}

/** Returns the responses in the order of the reads; none without a session whose token is still valid. */
function prefetchReads(
  { apiUrl, publishableKey }: Settings,
  reads: (data: DataClient, userId: string) => unknown[],
): Promise<Response>[] {
  const session = publishableKey === '' ? null : readStoredSession(apiUrl, true);
  if (!session) return [];
  const urls = urlsOf(apiUrl, (data) => reads(data, session.user.id));
  return prefetch(urls, session.access_token, publishableKey);
}
