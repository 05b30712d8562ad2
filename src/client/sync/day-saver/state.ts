/** The state of saving one day: serialisable data that only `reducer.ts` changes, and its selectors. */
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { DayDraft } from '../day-drafts.ts';
import { mergeLogs } from '../merge-logs.ts';
import type { Failure, MovedLog, StoredLog } from '../save-requests.ts';
import type { SaveStatus } from '../save-status.ts';

/** The text, row and revision that an unsaved text is based on. */
export type Basis = Pick<DayDraft, 'base' | 'baseId' | 'baseRevision'>;

/** The day was changed elsewhere and the user must choose. `theirs` is null if the row was deleted or `moved`. */
export type Conflict = { kind: 'conflict'; theirs: StoredLog | null; moved?: MovedLog | undefined };

/** Why unsaved text is not sent. It stays until the user or an answer of the server releases it. */
export type Hold = Conflict | Exclude<Failure, { kind: 'unreachable' }>;

/**
 * A save in progress: at most one request is in flight. It starts with a read when the outcome of an earlier write is not
 * known, and repeats when the row's revision has changed but the text may still be sent. `writes` counts the writes so far.
 */
export type Attempt = { request: 'read'; writes: number } | { request: 'write'; writes: number; html: string };

export type DaySaverState = Readonly<{
  /** The newest text known here, saved or not. */
  text: string;
  /** The editor holds a newer text: a key press does not serialise the document. */
  isEditorAhead: boolean;
  /** The row as the server last answered or acknowledged it; null if the day has none. */
  stored: StoredLog | null;
  /** When the server last acknowledged a change. A read that was sent earlier is stale. */
  acknowledgedAt: number;

  /** The server does not have `text`, as far as is known. */
  isUnsaved: boolean;
  /** The first edit since the last request; limits how long the debounce may postpone a save. */
  unsavedSince: number | null;
  /** When the debounce or the backoff ends. */
  saveDueAt: number;
  attempt: Attempt | null;
  /** Texts that were sent without an answer. A row with one of them is this page's own write, not a conflict. */
  unacknowledged: readonly string[];
  /** Attempts in a row that did not reach the server; sets the backoff. */
  failures: number;
  hold: Hold | null;
  /** The basis of an earlier page's draft, until it is compared with the server's row. If null, the basis is `stored`. */
  draftBasis: Basis | null;

  /** The first edit that no draft contains. */
  draftPendingSince: number | null;
  draftDueAt: number | null;
  /** When a draft last received text that no draft contained. */
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
  acknowledgedAt: 0,
  isUnsaved: false,
  unsavedSince: null,
  saveDueAt: 0,
  attempt: null,
  unacknowledged: [],
  failures: 0,
  hold: null,
  draftBasis: null,
  draftPendingSince: null,
  draftDueAt: null,
  draftStoredAt: null,
  isDraftSafe: true,
  isDisposed: false,
});

/** The basis of the unsaved text. `base` is undefined only for a draft that was stored without it. */
export const basisOf = ({ draftBasis, stored }: DaySaverState): Basis =>
  draftBasis ?? { base: stored?.html ?? '', baseId: stored?.id, baseRevision: stored?.revision ?? null };

/** The stored row already equals this text. An empty log is never stored. */
export const isSettled = ({ stored }: DaySaverState, html: string): boolean =>
  stored === null ? isEmptyLog(html) : html === stored.html;

/**
 * Unsaved text may be sent. A locked day is not sent automatically, unless an earlier attempt found no connection: that says
 * nothing about the plan. `evenLocked`: the plan may have changed.
 */
export const canSave = (
  { isUnsaved, isDisposed, attempt, hold, failures }: DaySaverState,
  evenLocked = false,
): boolean =>
  isUnsaved && !isDisposed && !attempt && (!hold || (hold.kind === 'locked' && (evenLocked || failures > 0)));

/** Every line written here, and those of `html` that this text was not based on. */
export const mergeWith = (state: DaySaverState, html: string): string =>
  html === basisOf(state).base ? state.text : mergeLogs(state.text, html);

/** No draft of that time or earlier contains all of the text. */
export const hasTextNewerThan = ({ isUnsaved, draftPendingSince, draftStoredAt }: DaySaverState, at: number): boolean =>
  isUnsaved && (draftPendingSince !== null || (draftStoredAt !== null && draftStoredAt > at));

/** The page may be closed: all unsaved text is in a draft, or the user has signed out. */
export const isSafe = ({ isUnsaved, isDraftSafe, isDisposed }: DaySaverState): boolean =>
  !isUnsaved || isDraftSafe || isDisposed;

/** The part of the state that screens show. */
export type SaverView = {
  status: SaveStatus;
  conflict: Conflict | null;
  unsaved: boolean;
  stored: StoredLog | null;
};

export const viewOf = (state: DaySaverState, isOnline: boolean): SaverView => ({
  status: statusOf(state, isOnline),
  conflict: state.hold?.kind === 'conflict' ? state.hold : null,
  unsaved: state.isUnsaved,
  stored: state.stored,
});

function statusOf({ hold, failures, isUnsaved, attempt, stored }: DaySaverState, isOnline: boolean): SaveStatus {
  if (hold) return hold.kind === 'conflict' ? { kind: 'conflict' } : hold;
  if (failures > 0 || (isUnsaved && !isOnline)) return { kind: isOnline ? 'retrying' : 'offline' };
  if (isUnsaved) return { kind: attempt ? 'saving' : 'unsaved' };
  return stored ? { kind: 'saved', at: stored.savedAt } : { kind: 'empty' };
}

export const isSameView = (a: SaverView, b: SaverView): boolean =>
  a.conflict === b.conflict &&
  a.unsaved === b.unsaved &&
  a.stored === b.stored &&
  JSON.stringify(a.status) === JSON.stringify(b.status);
