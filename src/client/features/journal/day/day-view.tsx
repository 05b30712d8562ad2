/**
 * Shows a day as locked, loading, failed or open. A day that failed to load is not shown as empty, except today while
 * the server cannot be reached.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState, useSyncExternalStore, useEffect, useRef, type MouseEvent } from 'react';
import { dayLabel, isBefore, dayQuestion, type Day } from '#domain/day/day.ts';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { Button } from '#client/ui/button.tsx';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import {
  entryQuery,
  isLockedError,
  isUnreachableError,
  entryKey,
  type ReadEntry,
} from '#client/sync/entries/entry-queries.ts';
import type { JournalEditorHandle } from '#client/editor/create-editor.ts';
import { useUser } from '#client/lib/session/session.ts';
import { FIRST_LINE_KEY, sharedTextsKeys, PREFERENCES_PREFIX } from '#client/lib/session/storage-keys.ts';
import { lazyChunk, tryLoad, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { useToast } from '#client/ui/toast.tsx';
import { loadMerge } from '#client/sync/merge-loader.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import type { SaveStatus } from '#client/sync/save-status.ts';
import { adoptEditor, useEarlyPage, useIsComposing, type EditableEarlyPage } from '../early/use-early-page.ts';
import { mayTakeFocus } from '../early/early-editor.ts';
import { SaveStatusLine } from './save-status-line.tsx';
import { useEditor } from './use-editor.ts';
import styles from '../journal.module.css';
import { useClock } from '#client/lib/hooks/use-clock.ts';
import { storedDayEnd } from '#client/lib/session/browser-preferences.ts';

type LockedDayProps = { date: Day };

const lockedDay = lazyChunk(
  async () => (await import('./locked-day.tsx')).LockedDay,
  // A plan can end while the device is offline: unsaved text must be shown without the chunk.
  LockedDayFallback,
);

type DayViewProps = {
  date: Day;
  today: Day;
  locked: boolean;
  /** The user has no logs, so the log of today takes the line that was typed on the landing page. */
  isFirstLog: boolean;
};

export function DayView(props: DayViewProps) {
  return props.locked ? <Locked {...props} /> : <OpenDayView {...props} />;
}

function OpenDayView({ date, today, isFirstLog }: DayViewProps) {
  const journal = useJournal();
  const { savers } = journal;
  const entry = useQuery(entryQuery(journal, date));
  const [isBegunOffline, setBegunOffline] = useState(false);
  // A refusal by the server counts, even if the page's plan opens the day or a copy of it is cached.
  if (isLockedError(entry.error)) return <Locked date={date} />;

  // Unsaved text of this page can be shown and edited without a response.
  const unsaved = entry.data ? null : savers.getUnsaved(date);
  // Offline the user can begin today's log: once the server answers, the text is merged with the log of another device.
  // The same holds for a day with unsaved text of a closed page. The day stays open during the next read, or keys
  // pressed meanwhile would be lost.
  if (!isBegunOffline && isUnreachableError(entry.error) && (date === today || savers.openDraft(date)))
    setBegunOffline(true);

  if (entry.data || unsaved || isBegunOffline) {
    const read = entry.data ?? { stored: unsaved?.view().stored ?? null, readAt: 0, seenAt: null };
    return <DayPage date={date} today={today} read={read} isFirstLog={isFirstLog} />;
  }
  if (entry.isError) return <NotLoaded date={date} onRetry={() => entry.refetch()} busy={entry.isFetching} />;
  return <Loading />;
}

function Loading() {
  return (
    <div className={styles.skeleton}>
      <LoadingText text="Loading entry..." />
      <span />
      <span />
      <span />
    </div>
  );
}

function Locked({ date }: LockedDayProps) {
  useDismissEarlyPage();
  return (
    <Suspense fallback={<Loading />}>
      <lockedDay.LoadingView date={date} />
    </Suspense>
  );
}

function LockedDayFallback({ date }: LockedDayProps) {
  const { savers } = useJournal();
  const saver = useSyncExternalStore(savers.subscribe, () => savers.getUnsaved(date));
  return (
    <>
      <p>This day is locked.</p>
      {saver && <StoredLog html={saver.text()} label="What you wrote" />}
    </>
  );
}

function NotLoaded({ date, onRetry, busy }: { date: Day; onRetry: () => Promise<unknown>; busy: boolean }) {
  useDismissEarlyPage();
  return (
    <div className={styles.problem} role="alert">
      <h2>This day could not be loaded.</h2>
      <p>What you wrote on {dayLabel(date)} is safe, but could not be loaded. Check your connection, then try again.</p>
      <Button tone="primary" onClick={() => void onRetry()} busy={busy} busyLabel="Loading...">
        Try again
      </Button>
    </div>
  );
}

/** Loaded when the page is idle or a conflict appears: most pages never show it. */
const conflictNotice = lazyChunk(async () => {
  // Also loads the code of the merge, so that a later merge needs no connection.
  void loadMerge();
  return (await import('./conflict-notice.tsx')).ConflictNotice;
});

/** `QuickOptions` is below a past day, `EarlierDay` below today. Today is editable before `EarlierDay` loads. */
const quickOptions = lazyChunk(async () => (await import('../empty-page.tsx')).QuickOptions);
const earlierDay = lazyChunk(async () => (await import('../empty-page.tsx')).EarlierDay);

/** After this wait for the server, the status line says that the text is this device's copy, or that it has none. */
const LATE_MS = 2_000;

type DayPageProps = { date: Day; today: Day; read: ReadEntry; isFirstLog: boolean };

function DayPage({ date, today, read, isFirstLog }: DayPageProps) {
  const { savers } = useJournal();
  const queries = useQueryClient();
  const { id: userId } = useUser();
  const early = useEarlyPage(userId, date);
  // Text typed before React ran (early-editor.ts) edits the log that the early page showed, so the saver starts with
  // that log. The effect below passes the server's answer to the saver.
  const [saver] = useState(() =>
    early ? savers.open(date, early.log.stored, 0) : savers.open(date, read.stored, read.readAt),
  );
  const view = useSyncExternalStore(saver.subscribe, saver.view);
  useEffect(() => void savers.open(date, read.stored, read.readAt), [date, read, savers]);

  const isLocked = view.status.kind === 'locked';
  // The server says that the day is locked: refetch it once, which shows the locked view if the plan has ended.
  useEffect(
    () => void (isLocked && queries.invalidateQueries({ queryKey: entryKey(date) })),
    [date, queries, isLocked],
  );

  const openChunk = useOpenChunk();
  const [, setHasNotice] = useState(false);
  const [editor, setEditor] = useState<JournalEditorHandle | null>(null);
  const [, setHasBelow] = useState(false);
  const isToday = date === today;
  const below = isBefore(date, today) ? quickOptions : isToday && editor ? earlierDay : null;
  useEffect(() => {
    // Best effort: the user can write the day without what is offered below it.
    if (below) void tryLoad(below.load).then(setHasBelow);
  }, [below]);
  const { conflict, doubts } = view;
  useEffect(() => {
    if (conflict) openChunk(conflictNotice, () => setHasNotice(true), false);
  }, [conflict, openChunk]);

  const isUnconfirmed = read.seenAt !== undefined;
  const isLate = useIsLate(isUnconfirmed);
  const { kind } = view.status;
  const status: SaveStatus =
    isUnconfirmed && isLate && (kind === 'saved' || kind === 'empty')
      ? { kind: 'unconfirmed', seenAt: read.seenAt ?? null }
      : view.status;

  const startsJournal = isFirstLog && isToday && read.stored === null && !isUnconfirmed;
  const toast = useToast();
  useEffect(() => {
    if (doubts.length === 0) return;
    saver.dismissDoubts();
    void loadMerge().then((merge) => merge && toast({ kind: 'info', topic: date, text: merge.mergeMessage(doubts) }));
  }, [date, doubts, saver, toast]);

  useEffect(() => {
    const keys = [FIRST_LINE_KEY, ...sharedTextsKeys(userId)];
    const hasArrived = [localStorage, sessionStorage].some((storage) =>
      keys.some((key) => storage.getItem(key) !== null),
    );
    if (!isToday || !hasArrived) return;
    // Without the chunk the text stays in the storage until the next load.
    import('../arrived-text.ts').then(
      ({ addArrivedText, offerSharedText }) => {
        offerSharedText(sessionStorage, userId, saver, toast);
        if (addArrivedText(localStorage, userId, saver, startsJournal) > 0)
          toast({ kind: 'success', text: 'What you shared is in your log.' });
      },
      () => undefined,
    );
  }, [isToday, saver, startsJournal, toast, userId]);

  const prompt = useDayPrompt(userId, date, today);
  const isWritable = editor !== null && !conflict && !isLocked;
  const blankPage = useFocusOnBlankClick((clientY) => isWritable && editor.focusAtHeight(clientY));

  return (
    <article className={styles.day} data-writable={isWritable} {...blankPage}>
      <Log
        saver={saver}
        label={`Log for ${dayLabel(date)}`}
        placeholder={prompt ?? dayQuestion(date, today)}
        early={early}
        onEditor={setEditor}
      />
      {conflict && <conflictNotice.View saver={saver} conflict={conflict} />}
      <SaveStatusLine saver={saver} status={status} isSafe={view.isSafe} />
      {below && <below.View date={date} saver={saver} editor={editor} />}
    </article>
  );
}

/** True if the server has not answered for `LATE_MS`, or if the browser has been offline from the start. */
function useIsLate(isWaiting: boolean): boolean {
  const [isLate, setLate] = useState(!navigator.onLine);
  useEffect(() => {
    const timer = setTimeout(() => setLate(isWaiting), isWaiting ? LATE_MS : 0);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isLate;
}

type LogProps = {
  saver: DaySaver;
  label: string;
  placeholder: string;
  early: EditableEarlyPage | null;
  onEditor: (editor: JournalEditorHandle | null) => void;
};

/** Shows the stored text until the editor has loaded. */
function Log({ saver, label, placeholder, early, onEditor }: LogProps) {
  const { savers } = useJournal();
  const { module, failed, retry } = useEditor();
  const [unreadable, setUnreadable] = useState(false);
  const isComposing = useIsComposing(early);
  useDismissEarlyPage(failed || unreadable);

  if (unreadable) {
    return (
      <>
        <p className={styles.notice} role="alert">
          This log contains something that the editor cannot show. Here it is as it is stored. You cannot edit it, so
          that nothing is lost.
        </p>
        <StoredLog html={saver.text()} label={label} />
      </>
    );
  }
  if (!module) {
    return (
      <>
        <StoredLog html={saver.text()} label={label} placeholder={failed ? null : placeholder} />
        <div className={failed ? styles.notice : styles.late} role="status">
          {failed ? 'The editor could not be loaded. ' : 'Loading editor...'}
          {failed && (
            <button type="button" className={styles.link} onClick={retry}>
              Try again
            </button>
          )}
        </div>
      </>
    );
  }
  if (isComposing) return null;
  return (
    <module.JournalEditor
      html={saver.text()}
      label={label}
      placeholder={placeholder}
      adopt={(element, callbacks) => adoptEditor(early, saver, savers, element, callbacks)}
      mayTakeFocus={mayTakeFocus}
      onEdit={() => saver.recordEdit()}
      onOpen={(editor) => {
        const close = saver.attachEditor(editor);
        early?.editor.giveTo(saver);
        onEditor(editor);
        return () => {
          onEditor(null);
          close();
        };
      }}
      onUnreadable={() => setUnreadable(true)}
    />
  );
}

/** A longer movement of the mouse is a drag. */
const MAX_CLICK_MOVE_PX = 4;

/**
 * Returns handlers that focus the editor on a click or tap in the empty page area, for the element of that area. They
 * ignore clicks on its children, drags (which select text) and presses that began elsewhere. A touch scroll fires no
 * click.
 */
function useFocusOnBlankClick(focusAtHeight: (clientY: number) => unknown) {
  const pressedAt = useRef<{ x: number; y: number } | null>(null);
  return {
    onMouseDown: (event: MouseEvent): void => {
      const { target, currentTarget, clientX: x, clientY: y } = event;
      pressedAt.current = target === currentTarget ? { x, y } : null;
      // Keep the editor's focus on a phone, or its keyboard would close and open again.
      if (pressedAt.current && matchMedia('(pointer: coarse)').matches) event.preventDefault();
    },
    onClick: ({ target, currentTarget, clientX, clientY, shiftKey }: MouseEvent): void => {
      const from = pressedAt.current;
      if (target !== currentTarget || !from || shiftKey) return;
      if (Math.hypot(clientX - from.x, clientY - from.y) <= MAX_CLICK_MOVE_PX) focusAtHeight(clientY);
    },
  };
}

const NOON = 12;

/** Reads the stored choice on every tick of the clock, so it applies as soon as this browser has stored it. */
function isAskedNow(userId: string): boolean {
  const hour = new Date().getHours();
  // From noon until the day ends, which may be after midnight.
  if (hour < NOON && hour >= storedDayEnd()) return false;
  try {
    return (
      (JSON.parse(localStorage.getItem(PREFERENCES_PREFIX + userId) ?? '{}') as { prompts?: boolean }).prompts === true
    );
  } catch {
    return false;
  }
}

/**
 * The question of the day (docs/specification/time-off.md 3); null outside its hours and for users who have not turned
 * it on. The questions load only then, so the page first asks what it always asks.
 */
function useDayPrompt(userId: string, date: Day, today: Day): string | null {
  const isAsked = useClock(() => (date === today && isAskedNow(userId) ? 'asked' : '')) !== '';
  const [promptOf, setPromptOf] = useState<((date: Day) => string) | null>(null);
  useEffect(() => {
    if (!isAsked) return;
    import('#domain/habit/prompts.ts').then(
      (prompts) => setPromptOf(() => prompts.promptOf),
      // Best effort: the page keeps its usual question.
      () => undefined,
    );
  }, [isAsked]);
  return isAsked && promptOf ? promptOf(date) : null;
}
