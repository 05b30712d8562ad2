import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { dayLabel, isBefore, type Day } from '#domain/day/day.ts';
import { dayQuestion } from '#domain/day/past-day.ts';
import type { JournalEditorHandle } from '#client/editor/create-editor.ts';
import { StoredLog } from '#client/editor/stored-log.tsx';
import { useDismissEarlyPage } from '#client/lib/boot/use-dismiss-early-page.ts';
import { useUser } from '#client/lib/session/session.ts';
import { FIRST_LINE_KEY, sharedTextsKeys } from '#client/lib/session/storage-keys.ts';
import { lazyChunk, tryLoad, useOpenChunk } from '#client/ui/lazy-chunk.ts';
import { useToast } from '#client/ui/toast.tsx';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { loadMerge } from '#client/sync/merge-loader.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';
import { entryKey, type ReadEntry } from '#client/sync/entries/entry-queries.ts';
import type { SaveStatus } from '#client/sync/save-status.ts';
import { adoptEditor, useEarlyPage, useIsComposing, type EditableEarlyPage } from '../early/use-early-page.ts';
import styles from '../journal.module.css';
import { mayTakeFocus } from './may-take-focus.ts';
import { SaveStatusLine } from './save-status-line.tsx';
import { useFocusOnBlankClick } from '../use-focus-on-blank-click.ts';
import { useEditor } from './use-editor.ts';

/** Loaded when the page is idle or a conflict appears: most pages never show it. */
const conflictNotice = lazyChunk(async () => {
  // Also loads the code of the merge, so that a later merge needs no connection.
  void loadMerge();
  return (await import('./conflict-notice.tsx')).ConflictNotice;
});

/** Loaded for past days only: no other day shows the quick options. */
const quickOptions = lazyChunk(async () => (await import('../quick-options.tsx')).QuickOptions);

/** After this wait for the server, the status line says where the text comes from (docs/specification/screens.md 2). */
const LATE_MS = 2_000;

type DayPageProps = {
  date: Day;
  today: Day;
  read: ReadEntry;
  isFirstLog: boolean;
  onUpgrade: () => void;
};

export function DayPage({ date, today, read, isFirstLog, onUpgrade }: DayPageProps) {
  const { savers } = useJournal();
  const queries = useQueryClient();
  const { id: userId } = useUser();
  const early = useEarlyPage(userId, date);
  // Text typed before React ran (early-editor.ts) edits this device's copy of the day, so the saver starts with that
  // copy. The effect below passes the server's answer to the saver.
  const [saver] = useState(() =>
    early ? savers.open(date, early.stored, 0) : savers.open(date, read.stored, read.readAt),
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
  const [, setHasQuickOptions] = useState(false);
  const isPast = isBefore(date, today);
  useEffect(() => {
    // Best effort: the user can write the day without the quick options.
    if (isPast) void tryLoad(quickOptions.load).then(setHasQuickOptions);
  }, [isPast]);
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

  const isToday = date === today;
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

  const [editor, setEditor] = useState<JournalEditorHandle | null>(null);
  const isWritable = editor !== null && !conflict && !isLocked;
  const blankPage = useFocusOnBlankClick((clientY) => isWritable && editor.focusAtHeight(clientY));

  return (
    <article className={styles.day} data-writable={isWritable} {...blankPage}>
      <Log
        saver={saver}
        label={`Log for ${dayLabel(date)}`}
        placeholder={dayQuestion(date, today)}
        early={early}
        onEditor={setEditor}
      />
      {conflict && <conflictNotice.View saver={saver} conflict={conflict} />}
      <SaveStatusLine saver={saver} status={status} isSafe={view.isSafe} onUpgrade={onUpgrade} />
      {isPast && <quickOptions.View saver={saver} editor={editor} />}
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
