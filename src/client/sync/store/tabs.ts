/**
 * The tabs of one user in one browser. Each tab holds a lock while its page lives, so that the others can tell whose
 * drafts were left behind. Tabs send the writes of a day in turn, take over drafts in turn, and tell each other what
 * they stored. Without Web Locks, as over plain http, every other tab counts as closed and no tab waits for its turn.
 */
import { isDay, type Day } from '#domain/day/day.ts';
import type { EntryTransport, StoredLog } from '../save-requests.ts';

/** The server has confirmed this row at `at`, in milliseconds; null if the day has none. */
export type StoredMessage = { date: Day; stored: StoredLog | null; at: number };

/** Waits longer than a request lasts. A tab that the system has suspended may hold the lock of a day for hours. */
const limitWait = () => ({ signal: AbortSignal.timeout(60_000) });

export type Tabs = ReturnType<typeof createTabs>;

export function createTabs(userId: string, writer: string, onStored: (message: StoredMessage) => void) {
  const prefix = `hustle-forge:${userId}:`;
  const locks = 'locks' in navigator ? navigator.locks : null;
  let channel: BroadcastChannel | null = null;
  /** The page is being closed, or is in the back/forward cache. */
  let isLeaving = false;

  /** Holds this page's lock until the returned function is called. */
  function holdLock(): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    locks?.request(`${prefix}writer:${writer}`, () => released).catch(() => {});
    return release;
  }

  return {
    /** Joins the other tabs. Returns a function that leaves them. */
    join(): () => void {
      const opened = 'BroadcastChannel' in globalThis ? new BroadcastChannel(prefix) : null;
      channel = opened;
      opened?.addEventListener('message', ({ data }: MessageEvent<Partial<StoredMessage> | null>) => {
        const isMessage = isDay(data?.date) && typeof data.at === 'number' && data.stored !== undefined;
        if (isMessage) onStored(data as StoredMessage);
      });
      let release = holdLock();
      // A held lock would keep the page out of the back/forward cache.
      const onHide = (): void => {
        isLeaving = true;
        release();
      };
      const onShow = ({ persisted }: PageTransitionEvent): void => {
        isLeaving = false;
        if (persisted) release = holdLock();
      };
      addEventListener('pagehide', onHide);
      addEventListener('pageshow', onShow);
      return () => {
        release();
        opened?.close();
        if (channel === opened) channel = null;
        removeEventListener('pagehide', onHide);
        removeEventListener('pageshow', onShow);
      };
    },

    /** The writers whose page is open. Never rejects. */
    async aliveWriters(): Promise<ReadonlySet<string>> {
      const state = await locks?.query().catch(() => null);
      const start = `${prefix}writer:`;
      const names = state?.held?.map(({ name = '' }) => name) ?? [];
      return new Set(names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length)));
    },

    announce: (message: StoredMessage): void => channel?.postMessage(message),

    /**
     * Resolves once the page of this writer was closed or killed, or is in the back/forward cache. Rejects if `signal`
     * aborts; undefined without Web Locks.
     */
    untilClosed: (otherWriter: string, signal: AbortSignal): Promise<unknown> | undefined =>
      locks?.request(`${prefix}writer:${otherWriter}`, { signal }, () => undefined),

    /** Runs one takeover of drafts at a time, so that each draft is sent by one tab. */
    takeOverInTurn: <T>(run: () => Promise<T>): Promise<T> =>
      locks ? locks.request(`${prefix}take-over`, run) : run(),

    /** Sends the writes of a day one after the other: the tab that holds the day's lock is its only sender. */
    serializeWrites(transport: EntryTransport): EntryTransport {
      const queue = <T>(date: Day, send: () => Promise<T>): Promise<T> =>
        // A page that is being closed cannot wait: the browser lets it only start requests. A page that was not granted
        // the lock in time sends too. If two tabs send at the same time, the server stores one of the writes, and the
        // outcome of the other is `changed`.
        !locks || isLeaving ? send() : locks.request(`${prefix}send:${date}`, limitWait(), send).catch(send);
      return {
        read: transport.read,
        insert: (date, ...rest) => queue(date, () => transport.insert(date, ...rest)),
        update: (date, ...rest) => queue(date, () => transport.update(date, ...rest)),
        remove: (date, ...rest) => queue(date, () => transport.remove(date, ...rest)),
      };
    },
  };
}
