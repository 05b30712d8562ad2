/** The state of saving one day: serialisable data that only the reducer changes, and its selectors. */
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { LogMerge, MergeDoubt } from '#domain/merge/merge-logs.ts';
import type { DayDraft } from '../day-drafts.ts';
import type { MergeModule } from '../merge-loader.ts';
import type { Failure, MovedLog, StoredLog } from '../save-requests.ts';
import type { SaveStatus } from '../save-status.ts';
import type { Version } from '#domain/log/entry.ts';

/** The text, row and revision that an unsaved text is based on. */
export type Basis = Pick<DayDraft, 'base' | 'baseId' | 'baseRevision'>;

/**
 * The day was changed elsewhere and the merge cannot decide, so the user must choose. `theirs` is the day's row on the
 * server, null if the day has none. `moved` is set if the log that the text is based on was moved to another day.
 */
export type Conflict = { kind: 'conflict'; theirs: StoredLog | null; moved?: MovedLog | undefined };

/**
 * Why unsaved text is not sent. The hold stays until an edit, a retry, the user's choice or a server response clears
 * it.
 */
export type Hold = Conflict | Exclude<Failure, { kind: 'unreachable' }>;

/**
 * A save in progress: at most one request is in flight. The attempt starts with a read if an earlier write got no
 * answer or a draft is not yet compared with the row. A write that finds a changed row leads to a read and, if the text
 * may still be sent, to another write. `writes` counts the writes so far.
 */
export type Attempt = { request: 'read'; writes: number } | { request: 'write'; writes: number; html: string };

/** All times are in milliseconds since 1970. */
export type DaySaverState = Readonly<{
  /** The newest text in this state, saved or not. The editor may hold a newer one: see `isEditorAhead`. */
  text: string;
  /** The editor holds a newer text than `text`, because a key press does not serialise the document. */
  isEditorAhead: boolean;
  /**
   * The server's row that this page last accepted; null for a day without a readable row. In a conflict, `hold` has the
   * newer row.
   */
  stored: StoredLog | null;
  /** The id of the row that an insert of the unsaved text creates; null if the text is based on a row. */
  newRowId: string | null;
  /** When `acknowledgeRow` last set `stored`. The answer to a read that was sent earlier is stale. */
  acknowledgedAt: number;

  /** The server does not have `text`, as far as is known. */
  isUnsaved: boolean;
  /** When the first edit since the last write was made; limits how long the debounce may postpone a save. */
  unsavedSince: number | null;
  /** When the debounce or the backoff ends. */
  saveDueAt: number;
  attempt: Attempt | null;
  /**
   * Texts sent by this page, or by the page that left the draft, without an answer. A row with such a text was not
   * changed elsewhere.
   */
  unacknowledged: readonly string[];
  /** Consecutive attempts that ended as `unreachable`; determines the backoff. */
  failures: number;
  /**
   * True if the last attempt failed and only a reloaded page can save: a proxy asks to sign in, or the text must be
   * merged and the code of the merge could not be loaded.
   */
  needsReload: boolean;
  hold: Hold | null;
  /** Another query has read a row that is not merged with the unsaved text yet. */
  hasUnmergedRow: boolean;
  /** The doubts of the merges so far that no screen has shown to the user yet. */
  doubts: readonly MergeDoubt[];
  /**
   * The basis of an earlier page's draft, until the draft is merged with the stored row, saved or replaced. If null,
   * `basisOf` derives the basis from `stored`.
   */
  draftBasis: Basis | null;

  /** When the first edit that no draft contains was made. */
  draftPendingSince: number | null;
  draftDueAt: number | null;
  /** When a draft was last stored with text that no earlier draft contained. */
  draftStoredAt: number | null;
  /** False if the browser refused to store the latest draft. */
  isDraftSafe: boolean;

  /** The user has signed out: events no longer change anything. */
  isDisposed: boolean;
}>;

export const initialState = (stored: StoredLog | null): DaySaverState => ({
  text: stored?.html ?? '',
  isEditorAhead: false,
  stored,
  newRowId: null,
  acknowledgedAt: 0,
  isUnsaved: false,
  unsavedSince: null,
  saveDueAt: 0,
  attempt: null,
  unacknowledged: [],
  failures: 0,
  needsReload: false,
  hold: null,
  hasUnmergedRow: false,
  doubts: [],
  draftBasis: null,
  draftPendingSince: null,
  draftDueAt: null,
  draftStoredAt: null,
  isDraftSafe: true,
  isDisposed: false,
});

/** The basis of the unsaved text. `base` is undefined only for a draft that was stored without it. */
export const basisOf = ({ draftBasis, stored, newRowId }: DaySaverState): Basis =>
  draftBasis ?? {
    base: stored?.html ?? '',
    baseId: stored?.id ?? newRowId ?? undefined,
    baseRevision: stored?.revision ?? null,
  };

/**
 * True if the stored row has this text. An empty text needs no row, because an empty log is never stored.
 */
export const isStoredText = ({ stored }: DaySaverState, html: string): boolean =>
  stored === null ? isEmptyLog(html) : html === stored.html;

/**
 * True if unsaved text may be sent now. Text of a locked day is sent only with `evenLocked`, when the plan may have
 * changed, or if the last send got no usable answer (`failures`), which says nothing about the plan.
 */
export const canSave = (
  { isUnsaved, isDisposed, attempt, hold, failures }: DaySaverState,
  evenLocked = false,
): boolean =>
  isUnsaved && !isDisposed && !attempt && (!hold || (hold.kind === 'locked' && (evenLocked || failures > 0)));

/** Merges the unsaved text with another version. Without a base the merge has the lines of both. */
export function mergeWith(state: DaySaverState, merge: MergeModule['mergeLogs'], theirs: string): LogMerge {
  const { text, unacknowledged } = state;
  const { base } = basisOf(state);
  if (base === undefined) return merge('', text, theirs);
  // If `theirs` has all changes of a text that was sent without an answer, that text is the base: lines of it that were
  // deleted here since must not come back. A sent text that equals `theirs` comes first. The unsaved text is skipped:
  // an emptied day has all changes of a text that only deleted lines, whose own lines would count as deleted elsewhere.
  const isStored = (sent: string): boolean =>
    sent !== base && sent !== text && merge(base, sent, theirs).html === theirs;
  const stored = unacknowledged.includes(theirs) ? theirs : (unacknowledged.findLast(isStored) ?? base);
  return merge(stored, text, theirs);
}

/** True if no draft stored at `at` or earlier contains all of the unsaved text. */
export const hasTextNewerThan = (state: DaySaverState, at: number): boolean => {
  const { isUnsaved, isDraftSafe, draftPendingSince, draftStoredAt } = state;
  return isUnsaved && (!isDraftSafe || draftPendingSince !== null || (draftStoredAt !== null && draftStoredAt > at));
};

/**
 * True unless the browser rejected the latest draft of unsaved text. Edits that no draft has yet do not make the text
 * unsafe: call `storeDraft` of the saver first.
 */
export const isSafe = ({ isUnsaved, isDraftSafe, isDisposed }: DaySaverState): boolean =>
  !isUnsaved || isDraftSafe || isDisposed;

/** The part of the state that screens show. */
export type SaverView = {
  status: SaveStatus;
  conflict: Conflict | null;
  doubts: readonly MergeDoubt[];
  unsaved: boolean;
  /** False if unsaved text is in this page alone, because the browser rejected its draft. */
  isSafe: boolean;
  stored: StoredLog | null;
};

export const viewOf = (state: DaySaverState, isOnline: boolean): SaverView => ({
  status: statusOf(state, isOnline),
  conflict: state.hold?.kind === 'conflict' ? state.hold : null,
  doubts: state.doubts,
  unsaved: state.isUnsaved,
  isSafe: isSafe(state),
  stored: state.stored,
});

function statusOf(
  { hold, failures, needsReload, isUnsaved, attempt, stored }: DaySaverState,
  isOnline: boolean,
): SaveStatus {
  if (hold) return hold.kind === 'conflict' ? { kind: 'conflict' } : hold;
  if (isUnsaved && !isOnline) return { kind: 'offline' };
  if (failures > 0) return { kind: needsReload ? 'outdated' : 'retrying' };
  if (isUnsaved) return { kind: attempt ? 'saving' : 'unsaved' };
  return stored ? { kind: 'saved', at: stored.savedAt } : { kind: 'empty' };
}

export const isSameView = (a: SaverView, b: SaverView): boolean =>
  a.conflict === b.conflict &&
  a.doubts === b.doubts &&
  a.unsaved === b.unsaved &&
  a.isSafe === b.isSafe &&
  a.stored === b.stored &&
  JSON.stringify(a.status) === JSON.stringify(b.status);

export type TimerName = 'save' | 'draft';

export type DaySaverEvent =
  /** The user changed the text. Dispatched at every change, so it carries no text: `textRead` brings it later. */
  | { type: 'typed'; delayMs: number }
  /** The editor was read because an event needs the newest text. */
  | { type: 'textRead'; html: string }
  /**
   * The whole text is replaced, for example by a quick entry. No-op unless the text still is `replaced` (optimistic
   * lock): the caller decided on that text, and a word typed since must not be lost.
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
 * `isHidden`: nobody sees the page. `random`: in [0, 1), for the jitter of the backoff. `newRowId`: a random UUID that
 * no row has yet. `merge` is null until its chunk has loaded.
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
