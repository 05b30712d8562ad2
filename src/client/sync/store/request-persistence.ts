/** Requests persistent storage: asks the browser not to clear this site's storage when space runs short. */
/** Where the browser was asked: `browser` or `installed`. Belongs to the browser, so it stays after a sign-out. */
const REQUESTED_KEY = 'hustle-forge:persistence-requested';

/**
 * Asks once in this browser, and once more in the installed app: Firefox asks the user, and Chromium decides by itself,
 * in favour of installed apps. A refusal changes nothing that the user would have to know: drafts are sent as soon as
 * they can be.
 */
export async function requestPersistence(): Promise<void> {
  const asked = matchMedia('(display-mode: standalone)').matches ? 'installed' : 'browser';
  try {
    if (localStorage.getItem(REQUESTED_KEY) === asked) return;
    // Before anything is awaited, so that neither the next save nor another tab asks meanwhile.
    localStorage.setItem(REQUESTED_KEY, asked);
    if (!(await navigator.storage.persisted())) await navigator.storage.persist();
  } catch {
    // A browser without this API or without storage.
  }
}
