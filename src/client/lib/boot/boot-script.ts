/**
 * Runs before the first paint, on every page: takes the tokens of a link out of the address, sets theme and font so that
 * nothing flashes, and sends somebody who is signed in from the landing page to the journal before a word of it is drawn.
 * On the journal's page it asks for the day at once, while the app's code is on its way.
 */
import type { ClientConfig } from '#domain/client-config.ts';
import { dayOf } from '#domain/day/day.ts';
import { ROUTES } from '#domain/routes.ts';
import { prefetch } from './prefetch.ts';
import { findAuthLink } from './auth-link.ts';
import type { ArrivedLink } from './auth-link.ts';
import { applyEditorFont, applyTheme, subscribeToTheme } from '../session/preferences.ts';
import { sessionStorageKey } from '../session/storage-keys.ts';
import { readStoredSession } from '../session/stored-session.ts';

const { page } = document.documentElement.dataset;
const link = findAuthLink(location);
if (link) takeLink(link);
// Pasting a link over the address of an open page changes its fragment alone, and no script would run.
addEventListener('hashchange', () => findAuthLink(location) && location.reload());

applyTheme();
applyEditorFont();
// Kept up for as long as the page lives, on pages without any other script as well.
subscribeToTheme(() => undefined);

try {
  if (!link && page === 'landing' && localStorage.getItem(sessionStorageKey(settings().apiUrl)))
    location.replace('/journal');
  if (page === 'app' && location.pathname === ROUTES.journal.path) askForJournal(settings());
} catch {
  // Without storage nobody is signed in here, and without settings in the page there is nobody to ask yet.
}

/**
 * Threat: tokens that stay in the address are bookmarked, sent on and found in the history. The landing and the legal
 * pages cannot explain a link, so it goes on to the app in a fragment, which no server sees and no history entry keeps.
 */
function takeLink({ page: target, given }: ArrivedLink): void {
  history.replaceState(null, '', page === 'app' ? target : location.pathname);
  if (page === 'app') globalThis.hustleForgeAuthLink = given;
  else location.replace(`${target}#${given}`);
}

type Settings = { apiUrl: string; publishableKey: string };

function settings(): Settings {
  const written = document.querySelector<HTMLMetaElement>('meta[name="hustle-forge-config"]')?.content;
  const { apiUrl = '', publishableKey = '' } = written ? (JSON.parse(written) as ClientConfig) : {};
  return { apiUrl: apiUrl || location.origin, publishableKey };
}

/** The requests that the journal begins with (`entry-transport.ts`, `entry-dates.ts`, `use-profile.ts`), letter by letter. */
function askForJournal({ apiUrl, publishableKey }: Settings): void {
  const session = publishableKey === '' ? null : readStoredSession(apiUrl);
  if (!session) return;
  const { id } = session.user;
  const addresses = [
    `entries?select=content%2Cid%2Crevision%2Cupdated_at&user_id=eq.${id}&date=eq.${dayOf(new Date())}`,
    `entry_dates?select=date&user_id=eq.${id}&order=date.desc`,
    `profiles?select=*&id=eq.${id}`,
  ];
  prefetch(
    addresses.map((address) => `${apiUrl}/rest/v1/${address}`),
    session.access_token,
    publishableKey,
  );
}
