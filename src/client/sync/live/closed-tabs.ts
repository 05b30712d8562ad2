/**
 * Takes over the drafts of another tab soon after that tab was closed or killed. Every other tab notices, and they take
 * over in turn, so the first one sends the drafts.
 */
import type { Day } from '#domain/day/day.ts';
import { DRAFT_PREFIX, keysUnder } from '#client/lib/session/storage-keys.ts';
import { daysOfDrafts, MARKER, parseKey, readDrafts, type DayDrafts, type Outbox } from '../day-drafts.ts';
import type { Timers } from '../day-saver/day-saver.ts';
import type { DaySavers } from '../day-savers.ts';
import type { Tabs } from '../store/tabs.ts';

/**
 * The other tabs wait this long, so that a reloaded page takes over its own drafts first: its user must find the text
 * there, also offline.
 */
const TAKE_OVER_DELAY_MS = 5_000;
/**
 * The wait, before jitter, until a takeover is retried after the server or the merge could not be reached. Needs a
 * timer: a page without unsaved text sends nothing that would show that the server is back.
 */
const TAKE_OVER_RETRY_MS = 30_000;

type Deps = {
  drafts: Pick<DayDrafts, 'abandonedDays' | 'noteWriter' | 'otherWriters'>;
  tabs: Pick<Tabs, 'takeOverInTurn' | 'untilClosed'>;
  savers: Pick<DaySavers, 'getUnsaved' | 'recover' | 'subscribe'>;
  timers: Timers;
  /** Removes the markers of drafts that the browser has cleared, and tells the user. */
  reportLostText: () => Promise<void>;
};

/** Returns a function that stops watching. */
export function watchOtherTabs(deps: Deps): () => void {
  let stop = startWatching(deps);
  // Waiting for a lock would keep the page out of the back/forward cache.
  const onHide = (): void => stop();
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) stop = startWatching(deps);
  };
  addEventListener('pagehide', onHide);
  addEventListener('pageshow', onShow);
  return () => {
    removeEventListener('pagehide', onHide);
    removeEventListener('pageshow', onShow);
    stop();
  };
}

function startWatching({ drafts, tabs, savers, timers, reportLostText }: Deps): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const watched = new Set<string>();
  /** Days with unsaved text of this page: their drafts are taken over once that text is saved. */
  const waiting = new Set<Day>();
  let stopRetry = (): void => {};

  async function takeOver(only?: Day): Promise<void> {
    if (signal.aborted) return;
    await tabs.takeOverInTurn(async () => {
      // Another user may be signed in by the time of this tab's turn.
      if (!signal.aborted) await reportLostText();
    });
    await savers.recover(only);
    for (const date of drafts.abandonedDays()) if (savers.getUnsaved(date)) waiting.add(date);
    retryLater();
  }

  function retryLater(): void {
    stopRetry();
    if (signal.aborted || drafts.abandonedDays().every((date) => waiting.has(date))) return;
    const delayMs = TAKE_OVER_RETRY_MS * (1 + (timers.random?.() ?? 0) / 2);
    stopRetry = timers.after(delayMs, () => void takeOver());
  }

  function watch(writer: string): void {
    if (watched.has(writer)) return;
    watched.add(writer);
    tabs.untilClosed(writer, signal)?.then(
      () => {
        watched.delete(writer);
        timers.after(TAKE_OVER_DELAY_MS, () => void takeOver());
      },
      () => {},
    );
  }

  // Another tab has changed localStorage, where each draft is stored first.
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    const writer = key !== null && newValue !== null ? drafts.noteWriter(key) : null;
    if (writer !== null) watch(writer);
  };
  const unsubscribe = savers.subscribe(() => {
    for (const date of waiting) if (!savers.getUnsaved(date) && waiting.delete(date)) void takeOver(date);
  });
  addEventListener('storage', onStorage);
  for (const writer of drafts.otherWriters()) watch(writer);
  return () => {
    stopped.abort();
    stopRetry();
    removeEventListener('storage', onStorage);
    unsubscribe();
  };
}

/**
 * Finds unsent text that the browser has cleared: IndexedDB is empty, but localStorage still has the marker of a draft.
 * Removes the markers of closed pages whose draft is gone, and returns their days: none if the database cannot be read.
 * Call it in turn with the other tabs (`takeOverInTurn`), so that only one of them tells the user.
 */
export async function removeLostDrafts(
  storage: Storage,
  userId: string,
  outbox: Pick<Outbox, 'readAll' | 'aliveWriters'>,
): Promise<Day[]> {
  // The markers first: a page writes the marker after its draft is in the database, and removes it before the draft.
  const isMarker = (key: string): boolean => storage.getItem(key) === MARKER;
  const markers = keysUnder(storage, `${DRAFT_PREFIX}${userId}:`).filter(isMarker);
  // The writers before the drafts: a page that was closed at that time stores no draft any more.
  const alive = await outbox.aliveWriters();
  const found = await readDrafts(outbox);
  if (!found) return [];
  const lost = markers.filter(isMarker).filter((key) => {
    const { date, writer } = parseKey(key);
    return !alive.has(writer) && !found.some((draft) => draft.date === date && draft.writer === writer);
  });
  for (const key of lost) storage.removeItem(key);
  return daysOfDrafts(lost);
}
