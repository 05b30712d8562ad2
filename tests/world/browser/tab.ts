/** A simulated tab: runs the product's journal on globals of its own, and shows a day as DayView and DayPage do. */
import { QueryClient, QueryObserver, type QueryObserverOptions, type QueryObserverResult } from '@tanstack/react-query';
import { createDataClient } from '#client/lib/api/data-client.ts';
import type { Conflict } from '#client/sync/day-saver/state.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import {
  entryKey,
  entryQuery,
  isLockedError,
  isUnreachableError,
  type ReadEntry,
} from '#client/sync/entries/entry-queries.ts';
import { browserTimers, createJournal, watchPage } from '#client/sync/journal.ts';
import { addToMovedLog, createSendMove, moveLog } from '#client/sync/entries/move-log.ts';
import { createRemoteChanges } from '#client/sync/live/live-sync.ts';
import { pruneCopies } from '#client/sync/store/prune-copies.ts';
import { dayOf, type Day } from '#domain/day/day.ts';
import type { DayChange } from '#domain/live-event.ts';
import { isLocked, isPremium, type PlanColumns } from '#domain/plan/plan.ts';
import { log } from '../../support/day-saver-harness.ts';
import { withSessionOf, type Device } from './device.ts';
import { runInRealm, type Realm } from './realm.ts';

export const itemsOf = (html: string): string[] => [...html.matchAll(/<p>([^<]+)<\/p>/g)].map((match) => match[1]!);

/** The options of a query with any key. */
type Options = QueryObserverOptions<ReadEntry>;

const PROFILE_MS = 50;

// The journal took its `Math.random` before `installRealms` replaced it.
browserTimers.random = () => Math.random();

export type TabOptions = {
  device: Device;
  number: number;
  /** The plan that the server would answer with. */
  findPlan: () => PlanColumns;
  randomUUID: Realm['randomUUID'];
  random?: () => number;
  /** Called when the tab asks the user about a conflict. `draft` is the JSON of the unsaved text with its base. */
  onQuestion: (conflict: Conflict, draft: string | null) => void;
  /** Called for each line that a merge kept twice, with the texts of both versions. */
  onKeptTwice: (line: { mine: string; theirs: string }) => void;
};

export type Tab = ReturnType<typeof openTab>;

export function openTab({ device, number, findPlan, randomUUID, random, onQuestion, onKeptTwice }: TabOptions) {
  const { clock, userId } = device;
  let isClosed = false;
  let requestsInFlight = 0;
  const realm: Realm = {
    clock,
    utcOffsetMinutes: device.utcOffsetMinutes,
    window: new EventTarget(),
    document: Object.assign(new EventTarget(), { visibilityState: 'visible' as const }),
    navigator: {
      get onLine() {
        return device.isOnline;
      },
      // A getter, because `realm` is not defined yet.
      get locks() {
        return device.locks.managerOf(realm);
      },
    },
    localStorage: device.localStorage,
    indexedDB: device.indexedDB,
    channels: device.channels,
    randomUUID,
    random,
    isClosed: () => isClosed,
    async fetch(...request) {
      const silence = (): Promise<Response> => new Promise(() => {});
      if (isClosed) return silence();
      requestsInFlight += 1;
      try {
        const response = await device.fetch(...request);
        return isClosed ? await silence() : response;
      } catch (error) {
        if (isClosed) return await silence();
        throw error;
      } finally {
        requestsInFlight -= 1;
      }
    },
  };
  const run = <T>(action: () => T): T => runInRealm(realm, action);

  return run(() => {
    const queries = new QueryClient({ defaultOptions: { queries: { retry: 1, staleTime: 30_000 } } });
    const data = createDataClient({ apiUrl: 'http://localhost', withSession: withSessionOf(device) });
    let premium: boolean | null = null;
    let page: Page | null = null;

    const journal = createJournal({
      userId,
      data,
      queries,
      onLocked: () => void refreshProfile(),
      onRemoved: () => undefined,
    });
    const { savers } = journal;
    journal.tabs.join();
    watchPage(savers);
    const changes = createRemoteChanges({ savers, copies: journal.copies, queries, timers: browserTimers });

    /** Follows the plan as DaySaversProvider, BackgroundTasks and `usePlanChange` do, but without a request. */
    async function refreshProfile(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, PROFILE_MS));
      if (!device.isOnline || device.isSessionExpired) return;
      const today = dayOf(new Date());
      const now = isPremium(findPlan(), today);
      if (now !== premium) {
        void pruneCopies(journal.copies, now, today);
        if (now) savers.retry();
      }
      const hasChanged = premium !== null && now !== premium;
      premium = now;
      if (hasChanged) {
        queries.removeQueries({ type: 'inactive' });
        void queries.invalidateQueries();
      }
      page?.render();
    }

    type Page = ReturnType<typeof showDay>;

    /** Shows a day as DayView and DayPage do. */
    function showDay(date: Day) {
      const observer = new QueryObserver(queries, entryQuery(journal, date) as unknown as Options);
      let open: { saver: DaySaver; read: ReadEntry; close: () => void } | null = null;
      const editor = { items: [] as string[], isComposing: false };

      function openEditor(read: ReadEntry): void {
        const saver = savers.open(date, read.stored, read.readAt);
        savers.open(date, read.stored, read.readAt);
        editor.items = itemsOf(saver.text());
        const detach = saver.attachEditor({
          read: () => log(...editor.items),
          replace: (html) => void (editor.items = itemsOf(html)),
          isComposing: () => editor.isComposing,
        });
        let { kind } = saver.view().status;
        let conflict: Conflict | null = null;
        const follow = (): void => {
          const view = saver.view();
          const wasLocked = kind === 'locked';
          kind = view.status.kind;
          if (kind === 'locked' && !wasLocked) void queries.invalidateQueries({ queryKey: entryKey(date) });
          if (view.conflict && view.conflict !== conflict) onQuestion(view.conflict, findDraft(date));
          conflict = view.conflict;
          if (view.doubts.length === 0) return;
          for (const doubt of view.doubts) if (doubt.kind === 'editedTwice') onKeptTwice(doubt);
          saver.dismissDoubts();
        };
        const unsubscribe = saver.subscribe(follow);
        open = {
          saver,
          read,
          close() {
            unsubscribe();
            detach();
          },
        };
        follow();
      }

      function closeEditor(): void {
        open?.close();
        open = null;
      }

      function render(result: QueryObserverResult<ReadEntry> = observer.getCurrentResult()): void {
        const today = dayOf(new Date());
        const isHidden = premium !== null && isLocked(date, premium, today);
        const unsaved = result.data ? null : savers.getUnsaved(date);
        const isBegunOffline = isUnreachableError(result.error) && (date === today || savers.openDraft(date) !== null);
        if (isHidden || isLockedError(result.error) || !(result.data || unsaved || isBegunOffline))
          return closeEditor();
        const read = result.data ?? { stored: unsaved?.view().stored ?? null, readAt: 0, seenAt: null };
        if (!open) openEditor(read);
        else if (open.read !== read) {
          open.read = read;
          savers.open(date, read.stored, read.readAt);
        }
      }

      const unsubscribe = observer.subscribe((result) => render(result));
      render();
      return {
        date,
        render,
        editor,
        saver: (): DaySaver | null => open?.saver ?? null,
        /** False while the day shows a copy of this device, or could not be loaded. */
        isConfirmed: () => open !== null && open.read.seenAt === undefined,
        reload: () => observer.refetch(),
        close(): void {
          unsubscribe();
          closeEditor();
        },
      };
    }

    /** The JSON of the draft of a day in `localStorage`; null without one. */
    function findDraft(date: Day): string | null {
      const { localStorage } = device;
      const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index)!);
      const texts = keys.filter((key) => key.includes(`:${date}:`)).map((key) => localStorage.getItem(key)!);
      return texts.findLast((text) => text !== '') ?? null;
    }

    function setVisible(isVisible: boolean): void {
      realm.document.visibilityState = isVisible ? 'visible' : 'hidden';
      realm.document.dispatchEvent(new Event('visibilitychange'));
      if (!isVisible) return;
      queries.getQueryCache().onFocus();
      changes.catchUp();
      void refreshProfile();
    }

    void refreshProfile();
    return {
      device,
      number,
      name: `${device.name} tab ${String(number)}`,
      savers,
      unsavedDays: () => savers.unsavedDays(),
      today: (): Day => run(() => dayOf(new Date())),
      isClosed: () => isClosed,
      /** True while a request is in flight, the open day is not loaded, or text is unsent. */
      isWaiting: () =>
        requestsInFlight > 0 ||
        queries.isFetching() > 0 ||
        page?.isConfirmed() === false ||
        savers.unsentDays().length > 0,
      isVisible: () => realm.document.visibilityState === 'visible',
      page: (): Page | null => page,

      openDay(date: Day): void {
        run(() => {
          page?.close();
          page = showDay(date);
        });
      },

      /** The user changes the items of the open day. */
      edit(change: (items: readonly string[]) => string[]): void {
        run(() => {
          const { editor, saver } = page!;
          editor.items = change(editor.items);
          saver()!.recordEdit();
        });
      },

      /** Loads the open day again if it could not be loaded, or shows a copy of this device. */
      tryAgain(): void {
        if (page?.isConfirmed() === false) void run(page.reload);
      },

      /** Begins or ends the composition of a word by an input method. */
      setComposing(isComposing: boolean): void {
        if (page) page.editor.isComposing = isComposing;
      },

      /** Resolves with the kind of the outcome. */
      moveLog: (to: Day): Promise<string> =>
        run(async () => (await moveLog(savers, createSendMove(data, userId), { from: page!.date, to })).kind),

      /** Answers the question about a conflict: "Keep both", or "Add it to that day" if the log was moved. */
      answer(): void {
        run(() => {
          const saver = page?.saver();
          const conflict = saver?.view().conflict;
          if (conflict?.moved) void addToMovedLog(savers, journal.transport, saver!);
          else saver?.keepBoth();
        });
      },

      setVisible: (isVisible: boolean): void => run(() => setVisible(isVisible)),
      applyChange: (change: DayChange): void => run(() => changes.apply(change)),
      catchUp: (): void => run(() => changes.catchUp()),
      refreshProfile: (): Promise<void> => run(refreshProfile),

      /** Does what DaySaversProvider does after the session was renewed. */
      renewed: (): void =>
        run(() => {
          savers.retry();
          void queries.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
          // The stream of changes connects again, and then reads what it has missed.
          changes.catchUp();
        }),

      networkChanged(): void {
        run(() => {
          realm.window.dispatchEvent(new Event(device.isOnline ? 'online' : 'offline'));
          if (!device.isOnline) return;
          queries.getQueryCache().onOnline();
          changes.catchUp();
        });
      },

      /** Closes the tab as a user does: the page may still store and send its unsaved text. */
      async close(): Promise<void> {
        run(() => {
          setVisible(false);
          realm.window.dispatchEvent(new Event('pagehide'));
        });
        await device.work.whenIdle();
        this.crash();
      },

      /** Ends the tab at once, without events. */
      crash(): void {
        isClosed = true;
        clock.cancelAll(realm);
        device.channels.closeAll(realm);
        device.locks.releaseAll(realm);
      },
    };
  });
}
