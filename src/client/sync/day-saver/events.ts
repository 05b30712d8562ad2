/**
 * The reducer's events and effects. Events and effects are plain data, so that a history can be recorded and replayed.
 */
import type { Version } from '#domain/log/entry.ts';
import type { LogMerge } from '#domain/merge/merge-logs.ts';
import type { DayDraft } from '../day-drafts.ts';
import type { MergeModule } from '../merge-loader.ts';
import type { Failure, MovedLog, StoredLog } from '../save-requests.ts';

export type TimerName = 'save' | 'draft';

export type DaySaverEvent =
  /** The user changed the text. Sent at every change, so it carries no text: `textRead` brings it later. */
  | { type: 'typed'; delayMs: number }
  /** The editor was read because an event needs the newest text. */
  | { type: 'textRead'; html: string }
  /**
   * The whole text is replaced, for example by a canned log (`QUICK_ENTRIES`). No-op unless the text still is `replaced`
   * (optimistic lock): the caller decided on that text, and a word typed since must not be lost.
   */
  | { type: 'textReplaced'; replaced: string; html: string; delayMs: number }
  | { type: 'editorClosed' }
  /** The debounce or the backoff of the next save is over. */
  | { type: 'saveTimerElapsed' }
  | { type: 'draftTimerElapsed' }
  /** Sends unsaved text now, before the debounce ends. */
  | { type: 'flushRequested' }
  /** The network, the session or the plan may be back, or the user asks to try again. */
  | { type: 'retryRequested' }
  | { type: 'saveSucceeded'; version: (Version & { savedAt: number }) | null }
  /** The row is not the one that the save was based on. */
  | { type: 'saveConflicted' }
  | { type: 'readSucceeded'; stored: StoredLog | null; moved?: MovedLog | undefined }
  | { type: 'requestFailed'; failure: Failure }
  /** A query outside the saver read this row. `readAt` is when that query's request was sent. */
  | { type: 'remoteChanged'; stored: StoredLog | null; readAt: number }
  /** The log was moved between this day and another; `stored` is this day's row afterwards. */
  | { type: 'logMoved'; stored: StoredLog | null }
  /**
   * A draft of an earlier page or another tab, now this page's own. `isReadable` is false if the plan locks the day.
   */
  | { type: 'draftFound'; draft: DayDraft; isReadable: boolean }
  | { type: 'draftRequested' }
  | { type: 'draftStored' }
  | { type: 'draftRejected' }
  /** A sign-out deletes the user's drafts; text that is newer than the sign-out needs a new draft. */
  | { type: 'draftsWiped' }
  /** The user resolved a conflict by keeping every line of both versions. */
  | { type: 'bothKept' }
  /** The user resolved a conflict by taking the other version. */
  | { type: 'theirsTaken' }
  /** A screen has shown `doubts` of the state, so they are cleared: the user is told of each once. */
  | { type: 'doubtsShown' }
  | { type: 'disposed' };

/**
 * Added by the driver. `isComposing`: an input method is in the middle of a word, so the editor must not be changed.
 * `isHidden`: nobody sees the page. `random`: in [0, 1), for the jitter of the backoff. `newRowId`: a random UUID that no
 * row has yet. `merge` is null until its chunk has loaded.
 */
export type EventContext = {
  now: number;
  random: number;
  isComposing: boolean;
  isHidden: boolean;
  newRowId: string;
  merge: MergeModule['mergeLogs'] | null;
};

/**
 * How the editor replaces its text. `isUndoable`: as one undo step; otherwise undo takes back only what the user typed.
 * `mappedLines` says where the caret goes; if it is null, the caret stays beside the same characters.
 */
export type TextChange = Pick<LogMerge, 'mappedLines'> & { isUndoable: boolean };

export type DaySaverEffect =
  /** Replaces the timer of that name; with `at` null, only stops that timer. */
  | { type: 'setTimer'; timer: TimerName; at: number | null }
  /** `rowId`: the row that the text is based on. The answer also says whether that row was moved to another day. */
  | { type: 'read'; rowId: string | undefined }
  | { type: 'insert'; html: string; rowId: string }
  | { type: 'update'; html: string; version: Version }
  | { type: 'remove'; version: Version }
  | { type: 'storeDraft'; draft: DayDraft }
  | { type: 'dropDraft' }
  | { type: 'replaceEditorText'; html: string; change: TextChange }
  | { type: 'notifyStored'; stored: StoredLog | null };
