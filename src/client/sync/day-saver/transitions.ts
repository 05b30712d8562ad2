/** The functions that the reducer is composed of. Each replaces `step.state` and may append to `step.effects`. */
import { AUTO_SAVE_MAX_WAIT_MS } from '#domain/log/entry.ts';
import { isEmptyLog } from '#domain/log/entry-text.ts';
import type { LogMerge } from '#domain/merge/merge-logs.ts';
import type { Failure, MovedLog, StoredLog } from '../save-requests.ts';
import { DRAFT_INTERVAL_MS } from '../day-drafts.ts';
import {
  basisOf,
  canSave,
  isStoredText,
  mergeWith,
  type DaySaverEffect,
  type EventContext,
  type TextChange,
  type Conflict,
  type DaySaverState,
} from './state.ts';

const RETRY_FIRST_MS = 1_000;
/**
 * The longest backoff before jitter, of a page on screen (docs/specification/days-and-saving.md 8) and of a hidden one,
 * which tries again at once when it is shown. A `Retry-After` of the server extends it, up to RETRY_AFTER_MAX_MS.
 */
const RETRY_MAX_MS = 5_000;
const RETRY_HIDDEN_MAX_MS = 30_000;
const RETRY_AFTER_MAX_MS = 30_000;
const RETRY_COMPOSING_MS = 1_000;
/** A row whose revision changes after every read would be written in a loop: after this many writes, back off. */
const MAX_WRITES = 3;
/**
 * The most texts that are remembered as sent without an answer. Each retry reads the row first, so a text that ten
 * later attempts did not find counts as not stored. Without a limit, writes that fail for an hour would fill the
 * storage.
 */
const MAX_UNACKNOWLEDGED = 10;

export type Step = EventContext & { state: DaySaverState; readonly effects: DaySaverEffect[] };

export function updateState(step: Step, changes: Partial<DaySaverState>): void {
  step.state = { ...step.state, ...changes };
}

/** Schedules a draft of the edits, at most one in `DRAFT_INTERVAL_MS` (throttle). */
export function scheduleDraft(step: Step): void {
  const draftPendingSince = step.state.draftPendingSince ?? step.now;
  updateState(step, { draftPendingSince, draftDueAt: draftPendingSince + DRAFT_INTERVAL_MS });
}

export function markUnsaved(step: Step, delayMs: number): void {
  const { now } = step;
  const { failures, attempt, hold, saveDueAt } = step.state;
  const unsavedSince = step.state.unsavedSince ?? now;
  // An edit does not shorten the backoff.
  const isBackingOff = failures > 0 && !attempt;
  updateState(step, {
    isUnsaved: true,
    unsavedSince,
    saveDueAt: isBackingOff ? saveDueAt : Math.min(now + delayMs, unsavedSince + AUTO_SAVE_MAX_WAIT_MS),
    hold: hold?.kind === 'refused' ? null : hold,
  });
  chooseRowId(step);
  scheduleDraft(step);
}

/** Chooses the id of the row to insert, unless the text is based on a row or an earlier insert has chosen the id. */
function chooseRowId(step: Step): void {
  if (basisOf(step.state).baseId === undefined) updateState(step, { newRowId: step.newRowId });
}

/**
 * Replaces the day's text, also in an open editor. Undo in the editor reverts only a text that the user chose
 * (`isUndoable`), never a change from elsewhere.
 */
export function putText(step: Step, html: string, change: Partial<TextChange> = {}): void {
  updateState(step, { text: html, isEditorAhead: false });
  step.effects.push({ type: 'replaceEditorText', html, change: { isUndoable: false, mappedLines: null, ...change } });
}

export function storeDraft(step: Step): void {
  const { now } = step;
  const { isUnsaved, draftPendingSince, draftStoredAt, text, unacknowledged } = step.state;
  updateState(step, {
    draftPendingSince: null,
    draftDueAt: null,
    draftStoredAt: draftPendingSince === null ? draftStoredAt : now,
  });
  if (!isUnsaved) return;
  const draft = { html: text, ...basisOf(step.state), sent: unacknowledged, at: now };
  step.effects.push({ type: 'storeDraft', draft });
}

/** The server has confirmed the row, or its absence (null): no sent text is in doubt, and reads sent earlier are stale. */
export function acknowledgeRow(step: Step, stored: StoredLog | null): void {
  const { now } = step;
  updateState(step, { stored, newRowId: null, acknowledgedAt: now, failures: 0, hold: null });
  updateState(step, { draftBasis: null, unacknowledged: [], hasUnmergedRow: false });
  step.effects.push({ type: 'notifyStored', stored });
}

/** Bases the unsaved text on this row, so that the text may be sent. */
export function rebaseText(step: Step, stored: StoredLog | null): void {
  const newRowId = stored ? null : step.state.newRowId;
  updateState(step, { stored, newRowId, draftBasis: null, hold: null });
}

/** The text equals the server's row: ends the attempt and drops the draft. */
export function markSaved(step: Step): void {
  updateState(step, {
    isUnsaved: false,
    newRowId: null,
    unsavedSince: null,
    attempt: null,
    failures: 0,
    hold: null,
    draftBasis: null,
    draftPendingSince: null,
    draftDueAt: null,
    isDraftSafe: true,
  });
  step.effects.push({ type: 'dropDraft' });
}

/** The server's row replaces the text. */
export function takeStoredRow(step: Step, stored: StoredLog | null, change?: Partial<TextChange>): void {
  acknowledgeRow(step, stored);
  putText(step, stored?.html ?? '', change);
  markSaved(step);
}

export function failAttempt(step: Step, failure: Failure): void {
  const isUnreachable = failure.kind === 'unreachable';
  if (isUnreachable) {
    const failures = step.state.failures + 1;
    const maxMs = step.isHidden ? RETRY_HIDDEN_MAX_MS : RETRY_MAX_MS;
    const backoffMs = Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), maxMs);
    const waitMs = Math.max(backoffMs, Math.min(failure.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
    // The jitter spreads the browsers that a busy server has refused at the same moment.
    updateState(step, { failures, saveDueAt: step.now + waitMs * (1 + step.random / 2) });
  } else {
    updateState(step, { failures: 0, hold: failure });
  }
  updateState(step, { attempt: null, needsReload: isUnreachable && failure.needsReload === true });
  storeDraft(step);
}

export function beginAttempt(step: Step, evenLocked = false): void {
  if (!canSave(step.state, evenLocked)) return;
  const { unacknowledged, draftBasis } = step.state;
  if (unacknowledged.length > 0 || draftBasis) requestRead(step, 0);
  else requestWrite(step, 0);
}

export function requestRead(step: Step, writes: number): void {
  updateState(step, { attempt: { request: 'read', writes }, hasUnmergedRow: false });
  step.effects.push({ type: 'read', rowId: basisOf(step.state).baseId });
}

const withoutRepeats = (texts: readonly string[]): string[] =>
  texts.filter((text, index) => texts.lastIndexOf(text) === index);

export function requestWrite(step: Step, writes: number): void {
  if (writes >= MAX_WRITES) return failAttempt(step, { kind: 'unreachable' });
  const { text, stored, unacknowledged } = step.state;
  let html = text;
  // The maximum wait for a save starts anew with the next edit.
  updateState(step, { unsavedSince: null });
  if (isStoredText(step.state, html)) {
    // The user took the edit back, so no save will find the row that another query read meanwhile: read it now.
    if (step.state.hasUnmergedRow) return requestRead(step, writes);
    if (!stored || unacknowledged.every((sent) => sent === text)) return markSaved(step);
    // The write of the edit may still arrive. An empty paragraph raises the revision, so a late write is a no-op
    // (fencing). The text itself is sent next.
    html += '<p></p>';
  }
  updateState(step, {
    attempt: { request: 'write', writes: writes + 1, html },
    // `html` may be there twice: if this write is refused, only its own copy is removed (`forgetWrite`).
    unacknowledged: [...withoutRepeats(unacknowledged), html].slice(-MAX_UNACKNOWLEDGED),
  });
  if (stored === null) {
    // A second insert of an attempt needs a new id. The first was refused, but the read after it found no row with its
    // id. So a row with that id is on a day that the plan locks, where the read cannot see it.
    const rowId = (writes === 0 && step.state.newRowId) || step.newRowId;
    updateState(step, { newRowId: rowId });
    step.effects.push({ type: 'insert', html, rowId });
  } else if (isEmptyLog(html)) step.effects.push({ type: 'remove', version: stored });
  else step.effects.push({ type: 'update', html, version: stored });
}

function holdConflict(step: Step, conflict: Omit<Conflict, 'kind'>): false {
  // `draftBasis` stays, or the next page would believe that the draft is based on the newest revision.
  updateState(step, { hold: { kind: 'conflict', ...conflict }, attempt: null });
  storeDraft(step);
  return false;
}

/** An input method is composing, so the editor must not be changed. The next attempt compares the versions again. */
function postpone(step: Step): false {
  updateState(step, { attempt: null, hold: null, saveDueAt: step.now + RETRY_COMPOSING_MS, hasUnmergedRow: true });
  return false;
}

/**
 * Compares the unsaved text with the server's row, and merges them if the row was changed. True: the text may be sent,
 * based on that row. False: the attempt is over, because the row has the text, the user must choose, or the versions
 * cannot be merged yet.
 */
export function reconcile(step: Step, theirs: StoredLog | null, moved?: MovedLog): boolean {
  const { state, merge, isComposing } = step;
  const { base, baseRevision } = basisOf(state);
  const other = theirs?.html ?? '';
  if (theirs && state.unacknowledged.includes(other)) {
    acknowledgeRow(step, theirs);
    return true;
  }
  // Compares the texts, because a day that was deleted and created again restarts at revision 1. Only a draft without
  // a base is compared by its revision.
  const isUnchanged = base === undefined ? (theirs?.revision ?? null) === baseRevision : other === base;
  if (!moved && (isUnchanged || other === state.text)) {
    rebaseText(step, theirs);
    return true;
  }
  if (!merge) {
    // Outside an attempt the merge may still load: the next attempt waits for it.
    if (state.attempt) failAttempt(step, { kind: 'unreachable', needsReload: true });
    return false;
  }
  const merged = mergeWith(state, merge, moved?.html ?? other);
  if (moved) {
    // Sending the text would put lines of the moved log on its old and its new day.
    if (merged.html !== moved.html) return holdConflict(step, { theirs, moved });
    if (isComposing) return postpone(step);
    takeStoredRow(step, theirs);
    return false;
  }
  // Without a base, a line that the text lacks may have been deleted here or added elsewhere.
  if (merged.isDoubtful || (base === undefined && merged.html !== state.text)) return holdConflict(step, { theirs });
  if (isComposing && merged.html !== state.text) return postpone(step);
  return takeMerge(step, theirs, merged);
}

/** The merged text replaces the text, based on the row. Returns false if the row has it already, so a save is over. */
function takeMerge(step: Step, theirs: StoredLog | null, { html, doubts, mappedLines }: LogMerge): boolean {
  if (doubts.length > 0) updateState(step, { doubts: [...step.state.doubts, ...doubts] });
  rebaseText(step, theirs);
  if (html !== step.state.text) putText(step, html, { mappedLines });
  if (isStoredText(step.state, html)) {
    acknowledgeRow(step, theirs);
    markSaved(step);
    return false;
  }
  storeDraft(step);
  return true;
}
