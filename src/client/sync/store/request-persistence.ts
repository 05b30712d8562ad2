/** Requests persistent storage: asks the browser not to clear this site's storage when space runs short. */
import type { Day } from '#domain/day/day.ts';
import type { DaySavers } from '../day-savers.ts';

/** Stores where the last request was made: in a tab (`browser`) or the `installed` app. Stays after a sign-out. */
const REQUESTED_KEY = 'hustle-forge:persistence-requested';

/**
 * Call while text waits on this device: Firefox asks the user, who then sees why. Asks once in this browser, and once
 * more in the installed app: Chromium decides by itself, in favour of sites that are used often and of installed apps. A
 * refusal is not shown to the user: drafts are sent as soon as they can be, with or without it.
 */
export async function requestPersistence(): Promise<void> {
  const asked = matchMedia('(display-mode: standalone)').matches ? 'installed' : 'browser';
  try {
    // Tabs and the installed app share the key: after the app, a tab does not ask either.
    if ([asked, 'installed'].includes(localStorage.getItem(REQUESTED_KEY) ?? '')) return;
    // Store the key before the first `await`, or the next save or another tab would ask too.
    localStorage.setItem(REQUESTED_KEY, asked);
    if (!(await navigator.storage.persisted())) await navigator.storage.persist();
  } catch {
    // A browser without this API or without storage.
  }
}

/**
 * Requests persistent storage when text first has to wait on this device because the server cannot be reached. Returns a
 * function that stops watching.
 */
export function watchWaitingText(savers: Pick<DaySavers, 'get' | 'subscribe' | 'unsavedDays'>): () => void {
  /** For each watched day the function that stops watching it. */
  const watched = new Map<Day, () => void>();
  const watch = (): void => {
    for (const date of savers.unsavedDays()) {
      const saver = savers.get(date);
      if (!saver || watched.has(date)) continue;
      const requestIfUnreachable = (): void => {
        if (['offline', 'retrying'].includes(saver.view().status.kind)) void requestPersistence();
      };
      watched.set(date, saver.subscribe(requestIfUnreachable));
      requestIfUnreachable();
    }
  };
  watch();
  const unsubscribe = savers.subscribe(watch);
  return () => {
    unsubscribe();
    for (const stop of watched.values()) stop();
  };
}
