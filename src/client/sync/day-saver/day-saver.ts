/** Drives the saving engine of one day: runs the reducer's effects and turns timers and answers into its events. */
import { AUTO_SAVE_DELAY_MS } from '#domain/log/entry.ts';
import type { Day } from '#domain/day/day.ts';
import type { DayDraft } from '../day-drafts.ts';
import type { EntryTransport, ReadOutcome, StoredLog, WriteOutcome } from '../save-requests.ts';
import type { LogPosition } from '#domain/merge/merge-logs.ts';
import type { MergeLoader, MergeModule } from '../merge-loader.ts';
import {
  hasTextNewerThan,
  initialState,
  isSafe,
  isSameView,
  mergeWith,
  viewOf,
  type DaySaverEffect,
  type DaySaverEvent,
  type EventContext,
  type TextChange,
  type TimerName,
} from './state.ts';
import { needsText, reduce } from './reducer.ts';

/** `after` returns a function that stops the timer. `random`: in [0, 1), for the jitter. */
export type Timers = { now: () => number; after: (ms: number, run: () => void) => () => void; random?: () => number };

/** The editor that is open on the day. */
export type OpenEditor = {
  read: () => string;
  /** Replaces the text without reporting an edit. `mapPosition` maps the caret and the ends of the selection. */
  replace: (html: string, change: EditorChange) => void;
  /** An input method is in the middle of a word: the text must not be changed. */
  isComposing: () => boolean;
};

export type EditorChange = Pick<TextChange, 'isUndoable'> & {
  mapPosition: ((position: LogPosition) => LogPosition) | null;
};

export type DaySaverOptions = {
  date: Day;
  stored: StoredLog | null;
  transport: EntryTransport;
  timers: Timers;
  merger: MergeLoader;
  isOnline: () => boolean;
  isHidden: () => boolean;
  /** `store` returns a promise while only IndexedDB may still take the draft. */
  drafts: { store: (draft: DayDraft) => boolean | Promise<boolean>; drop: () => void };
  /** The server has confirmed this row; null means that the day has no row. */
  onStored: (stored: StoredLog | null) => void;
  /** A save of this page has deleted the log. `html` is the text that the log had. */
  onRemoved?: (html: string) => void;
};

export type DaySaver = ReturnType<typeof createDaySaver>;

export function createDaySaver(options: DaySaverOptions) {
  const { date, stored, transport, timers, merger, isOnline, isHidden, drafts, ...on } = options;
  let state = initialState(stored);
  let view = viewOf(state, isOnline());
  let editor: OpenEditor | null = null;
  const stopTimer: Partial<Record<TimerName, () => void>> = {};
  const listeners = new Set<() => void>();
  let waitingForIdle: (() => void)[] = [];
  const queue: DaySaverEvent[] = [];

  const isComposing = (): boolean => editor?.isComposing() === true;
  const contextNow = (): EventContext => ({
    now: timers.now(),
    random: timers.random?.() ?? 0,
    isComposing: isComposing(),
    isHidden: isHidden(),
    newRowId: crypto.randomUUID(),
    merge: merger.loaded()?.mergeLogs ?? null,
  });

  function readEditor(): void {
    const html = editor?.read() ?? state.text;
    state = reduce(state, { type: 'textRead', html }, contextNow()).state;
  }

  /** Run to completion: an event that an effect causes is handled after all effects of the event before it. */
  function dispatch(event: DaySaverEvent): void {
    queue.push(event);
    if (queue.length > 1) return;
    try {
      for (; queue[0]; queue.shift()) {
        if (needsText(state, queue[0])) readEditor();
        const next = reduce(state, queue[0], contextNow());
        state = next.state;
        next.effects.forEach(run);
      }
    } finally {
      queue.length = 0;
    }
    if (!state.attempt) {
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    }
    notify();
  }

  function notify(): void {
    const next = viewOf(state, isOnline());
    if (isSameView(next, view)) return;
    view = next;
    for (const listener of listeners) listener();
  }

  function run(effect: DaySaverEffect): void {
    switch (effect.type) {
      case 'setTimer': {
        const { timer, at } = effect;
        stopTimer[timer]?.();
        if (at !== null) {
          const delayMs = Math.max(0, at - timers.now());
          stopTimer[timer] = timers.after(delayMs, () => dispatch({ type: `${timer}TimerElapsed` }));
        }
        return;
      }
      case 'read':
        // Loads the merge at the same time, because the unsaved text may have to be merged with the row.
        return void Promise.all([transport.read(date, effect.rowId), merger.load()]).then(([row]) => onRead(row));
      case 'insert':
        return void transport.insert(date, effect.html, effect.rowId).then(onWritten);
      case 'update':
        return void transport.update(date, effect.html, effect.version).then(onWritten);
      case 'remove':
        return void transport.remove(date, effect.version).then(onWritten);
      case 'storeDraft':
        return writeDraft(effect.draft);
      case 'dropDraft':
        return drafts.drop();
      case 'replaceEditorText':
        return replaceEditorText(effect.html, effect.change);
      case 'notifyStored':
        return on.onStored(effect.stored);
    }
  }

  function replaceEditorText(html: string, { isUndoable, mappedLines }: TextChange): void {
    const merge = merger.loaded();
    const mapPosition = merge && mappedLines && ((at: LogPosition) => merge.mapPosition({ mappedLines }, at));
    editor?.replace(html, { isUndoable, mapPosition });
  }

  /** Counts the drafts: the outcome of storing an older draft says nothing about the newest one. */
  let draftCount = 0;

  function writeDraft(draft: DayDraft): void {
    const count = (draftCount += 1);
    const report = (isStored: boolean) => dispatch({ type: isStored ? 'draftStored' : 'draftRejected' });
    // If the browser rejects the draft, for example because storage is full, store it without base and sent texts.
    const writeTextOnly = (): boolean => {
      const { html, baseRevision, baseId, at } = draft;
      return drafts.store({ html, baseRevision, baseId, at }) === true;
    };
    const isStored = drafts.store(draft);
    if (typeof isStored === 'boolean') return report(isStored || writeTextOnly());
    report(false);
    void isStored.then((isStoredLater) => count === draftCount && report(isStoredLater || writeTextOnly()));
  }

  function onRead(outcome: ReadOutcome): void {
    if (outcome.kind !== 'read') return dispatch({ type: 'requestFailed', failure: outcome });
    dispatch({ type: 'readSucceeded', stored: outcome.stored, moved: outcome.moved });
  }

  function onWritten(outcome: WriteOutcome): void {
    switch (outcome.kind) {
      case 'stored': {
        const { id, revision, savedAt } = outcome;
        return dispatch({ type: 'saveSucceeded', version: { id, revision, savedAt } });
      }
      case 'removed': {
        const { stored: removed } = state;
        dispatch({ type: 'saveSucceeded', version: null });
        if (removed) on.onRemoved?.(removed.html);
        return;
      }
      case 'changed':
        return dispatch({ type: 'saveConflicted' });
      case 'signedOut':
      case 'refused':
      case 'locked':
      case 'unreachable':
        return dispatch({ type: 'requestFailed', failure: outcome });
    }
  }

  /** Resolves when the attempt is over. */
  const untilIdle = () => new Promise<void>((resolve) => waitingForIdle.push(resolve));

  /** The newest text known here, saved or not. */
  function text(): string {
    if (state.isEditorAhead) readEditor();
    return state.text;
  }

  function storeDraft(): boolean {
    dispatch({ type: 'draftRequested' });
    return isSafe(state);
  }

  return {
    date,
    text,
    /** True while the user composes a word (IME): the editor's text must not be replaced. */
    isComposing,
    view: () => view,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /** The user changed something in the editor. Cheap enough for every change. */
    recordEdit: () => dispatch({ type: 'typed', delayMs: AUTO_SAVE_DELAY_MS }),

    /**
     * Replaces the whole text, for example by a quick entry. `compute` gets the page's text, saved or not, and must not
     * lose a word of it unless the user can have it back; null changes nothing.
     */
    rewrite(compute: (text: string) => string | null, delayMs: number): void {
      const replaced = text();
      const html = compute(replaced);
      if (html !== null) dispatch({ type: 'textReplaced', replaced, html, delayMs });
    },

    /** An editor opened on this day. Returns the function to call when it closes. */
    attachEditor(opened: OpenEditor): () => void {
      editor = opened;
      return () => {
        if (editor !== opened) return;
        dispatch({ type: 'editorClosed' });
        editor = null;
      };
    },

    /** Takes over text that a closed tab or a crash left. `isReadable`: the plan opens the day. */
    restore: (draft: DayDraft, isReadable = true) => dispatch({ type: 'draftFound', draft, isReadable }),

    /**
     * The server's row, read at `readAt`. Unsaved text is merged with it. Ignored if the row is stale or an input
     * method is composing.
     */
    takeRow: (row: StoredLog | null, readAt: number) => dispatch({ type: 'remoteChanged', stored: row, readAt }),

    /** The log was moved to or from this day. Ignored while text is unsaved. */
    replaceWith: (row: StoredLog | null) => dispatch({ type: 'logMoved', stored: row }),

    /** Sends unsaved text now. Resolves when the attempt is over, with whether everything is saved. */
    async flush(): Promise<boolean> {
      if (state.attempt) await untilIdle();
      dispatch({ type: 'flushRequested' });
      if (state.attempt) await untilIdle();
      return !state.isUnsaved;
    },

    /** The network, the session or the plan may be back, or the user asks to try again. */
    retry: () => dispatch({ type: 'retryRequested' }),

    /**
     * Stores unsaved text in a draft at once, because the page may be closed. False if the browser rejected the draft.
     */
    storeDraft,

    /** Saves the merge of both versions. */
    keepBoth: () => dispatch({ type: 'bothKept' }),

    /** Takes the other version; undo in the editor brings this one back. */
    takeTheirs: () => dispatch({ type: 'theirsTaken' }),

    /** Clears `view().doubts` (`MergeDoubt`), which a screen has shown: the user is told of each once. */
    dismissDoubts: () => dispatch({ type: 'doubtsShown' }),

    /** Returns the merge of this day's text with another version, without applying it. */
    mergeWith: (merge: MergeModule['mergeLogs'], html: string) => (text(), mergeWith(state, merge, html).html),

    /**
     * True if no draft at the time `at` had all of the unsaved text: a sign-out that began then did not ask the user
     * about all of it. In that case schedules a new draft, because the sign-out deletes the user's drafts.
     */
    redraftIfNewer(at: number): boolean {
      const isNewer = hasTextNewerThan(state, at);
      if (isNewer) dispatch({ type: 'draftsWiped' });
      return isNewer;
    },

    /**
     * Stores a last draft, stops all timers and ignores later events. After a sign-out, `drafts` is closed already and
     * drops that draft.
     */
    close: () => dispatch({ type: 'disposed' }),
  };
}
