/**
 * The saving engine of one day as a pure state machine: no clock, network, storage or editor, all of which
 * `day-saver.ts` drives. The rules are in docs/specification/days-and-saving.md 5, 6 and 8.
 */
import { commonBase, mergeDrafts } from '../day-drafts.ts';
import type { StoredLog } from '../save-requests.ts';
import {
  basisOf,
  canSave,
  isStoredText,
  mergeWith,
  type DaySaverEffect,
  type DaySaverEvent,
  type EventContext,
  type TimerName,
  type DaySaverState,
} from './state.ts';
import {
  acknowledgeRow,
  beginAttempt,
  failAttempt,
  markUnsaved,
  putText,
  requestRead,
  rebaseText,
  reconcile,
  scheduleDraft,
  updateState,
  markSaved,
  storeDraft,
  takeStoredRow,
  requestWrite,
  type Step,
} from './transitions.ts';

type Transition = { state: DaySaverState; effects: readonly DaySaverEffect[] };

/** A total function: an event that the state does not expect, such as an answer without a request, changes nothing. */
export function reduce(state: DaySaverState, event: DaySaverEvent, context: EventContext): Transition {
  if (state.isDisposed) return { state, effects: [] };
  const step: Step = { state, effects: [], ...context };
  applyEvent(step, event);
  setTimer(step, 'save', saveTimerAt(state), saveTimerAt(step.state));
  setTimer(step, 'draft', state.draftDueAt, step.state.draftDueAt);
  return { state: step.state, effects: replaceEditorTextOnce(step.effects) };
}

/**
 * One event may show a draft and then its merge with the row. Replaces the editor's text by the merge alone: the draft
 * may lack the line that the caret is in.
 */
function replaceEditorTextOnce(effects: readonly DaySaverEffect[]): readonly DaySaverEffect[] {
  const replacements = effects.filter((effect) => effect.type === 'replaceEditorText');
  const last = replacements.at(-1);
  if (!last || replacements.length === 1) return effects;
  // `mappedLines` maps the lines of the draft, which the editor has never shown.
  const once = { ...last, change: { ...last.change, mappedLines: null } };
  return effects.flatMap((effect) => (effect === last ? once : effect.type === last.type ? [] : effect));
}

/**
 * True if the editor must be read before this event. `typed` is excluded because it comes at every change,
 * `saveSucceeded` because text typed during a request is sent by the next request.
 */
export const needsText = ({ isEditorAhead }: DaySaverState, { type }: DaySaverEvent): boolean =>
  isEditorAhead && type !== 'typed' && type !== 'saveSucceeded';

const saveTimerAt = (state: DaySaverState): number | null => (canSave(state) ? state.saveDueAt : null);

function setTimer(step: Step, timer: TimerName, before: number | null, at: number | null): void {
  if (at !== before) step.effects.push({ type: 'setTimer', timer, at });
}

function applyEvent(step: Step, event: DaySaverEvent): void {
  const { state } = step;
  const { attempt, hold } = state;
  switch (event.type) {
    case 'typed':
      updateState(step, { isEditorAhead: true });
      return markUnsaved(step, event.delayMs);
    case 'textRead':
      if (state.isEditorAhead) updateState(step, { text: event.html, isEditorAhead: false });
      return;
    case 'textReplaced':
      if (event.replaced !== state.text) return;
      putText(step, event.html, { isUndoable: true });
      return markUnsaved(step, event.delayMs);

    case 'editorClosed':
    case 'saveTimerElapsed':
    case 'flushRequested':
      return beginAttempt(step);
    case 'retryRequested':
      if (hold?.kind === 'signedOut' || hold?.kind === 'refused') updateState(step, { hold: null });
      return beginAttempt(step, true);

    case 'saveSucceeded': {
      if (attempt?.request !== 'write') return;
      acknowledgeRow(step, event.version && { ...event.version, html: attempt.html });
      if (!state.isEditorAhead && isStoredText(step.state, state.text)) return markSaved(step);
      return updateState(step, { attempt: null });
    }
    case 'saveConflicted':
      if (attempt?.request !== 'write') return;
      forgetWrite(step);
      return requestRead(step, attempt.writes);
    case 'readSucceeded':
      if (attempt?.request === 'read' && reconcile(step, event.stored, event.moved)) requestWrite(step, attempt.writes);
      return;
    case 'requestFailed':
      if (!attempt) return;
      if (attempt.request === 'write' && event.failure.kind !== 'unreachable') forgetWrite(step);
      return failAttempt(step, event.failure);

    case 'remoteChanged':
      return takeRemote(step, event);
    case 'logMoved':
      if (!state.isUnsaved) takeStoredRow(step, event.stored);
      return;
    case 'bothKept':
      return keepBoth(step);
    case 'theirsTaken':
      if (hold?.kind === 'conflict') takeStoredRow(step, hold.theirs, { isUndoable: true });
      return;
    case 'doubtsShown':
      return updateState(step, { doubts: [] });

    case 'draftFound':
      return takeDraft(step, event);
    case 'draftTimerElapsed':
    case 'draftRequested':
      return storeDraft(step);
    case 'draftStored':
    case 'draftRejected':
      return updateState(step, { isDraftSafe: event.type === 'draftStored' });
    case 'draftsWiped':
      if (state.isUnsaved) scheduleDraft(step);
      return;
    case 'disposed':
      storeDraft(step);
      return updateState(step, { isDisposed: true, attempt: null });
  }
}

/**
 * Removes the text of the write in flight, which certainly stored nothing, from `unacknowledged`. The texts of earlier
 * writes stay, because the server may have stored them.
 */
function forgetWrite(step: Step): void {
  updateState(step, { unacknowledged: step.state.unacknowledged.slice(0, -1) });
}

/**
 * A row from another query replaces the text, unless the query is stale or an input method is composing. Unsaved text
 * is merged with it.
 */
function takeRemote(step: Step, { stored, readAt }: Extract<DaySaverEvent, { type: 'remoteChanged' }>): void {
  const { isUnsaved, acknowledgedAt, stored: before } = step.state;
  // An acknowledgement in the future says nothing: the clock was set back since.
  if (readAt <= acknowledgedAt && acknowledgedAt <= step.now) return;
  if (step.isComposing) return updateState(step, { hasUnmergedRow: true });
  if (isUnsaved) return mergeRemote(step, stored);
  updateState(step, { stored });
  const html = stored?.html ?? '';
  if (html !== (before?.html ?? '')) putText(step, html);
}

/**
 * Merges unsaved text with a newer revision of its row before the next save. In all other cases, for example if the row
 * is gone and may have been moved, the next save compares the versions.
 */
function mergeRemote(step: Step, stored: StoredLog | null): void {
  const { attempt, hold } = step.state;
  const { baseId, baseRevision } = basisOf(step.state);
  const isOfBase = stored !== null && stored.id === baseId;
  // The log was moved to another day and back, so the user no longer has to choose a day for the text.
  const isMovedBack = isOfBase && hold?.kind === 'conflict' && hold.moved !== undefined;
  if (isOfBase && !isMovedBack && stored.revision <= (baseRevision ?? 0)) return;
  if (isOfBase && !attempt && (!hold || isMovedBack)) reconcile(step, stored);
  // The user chooses between the text and the newest row.
  else if (hold?.kind === 'conflict') updateState(step, { hold: { ...hold, theirs: stored } });
  else updateState(step, { hasUnmergedRow: true });
}

function keepBoth(step: Step): void {
  const { hold, text } = step.state;
  if (hold?.kind !== 'conflict' || !step.merge) return;
  const theirs = hold.theirs?.html ?? '';
  // The empty base keeps every line of both texts, also those that the moved log has: the user chose this day for them.
  const { html, mappedLines } = hold.moved ? step.merge('', text, theirs) : mergeWith(step.state, step.merge, theirs);
  rebaseText(step, hold.theirs);
  // The next insert needs a new id: the row with the current one may be the moved log, which stays where it is.
  updateState(step, { newRowId: null });
  putText(step, html, { mappedLines, isUndoable: true });
  markUnsaved(step, 0);
  beginAttempt(step);
}

/**
 * Takes over an earlier page's draft: merges it into unsaved text, otherwise compares it with the row that this page
 * read.
 */
function takeDraft(step: Step, { draft, isReadable }: Extract<DaySaverEvent, { type: 'draftFound' }>): void {
  const { state } = step;
  const { html, base, baseId, baseRevision, sent = [] } = draft;
  if (state.isUnsaved) {
    const basis = basisOf(state);
    putText(step, mergeDrafts(step.merge, { html: state.text, base: basis.base }, draft));
    updateState(step, {
      draftBasis: { ...basis, base: commonBase(basis.base, base) },
      // The text of a write in flight stays the last one (`forgetWrite`).
      unacknowledged: [...sent, ...state.unacknowledged],
    });
    return markUnsaved(step, 0);
  }
  // This page may still show a copy on this device that is older than the row that the draft is based on.
  const isOlder = (state.stored?.revision ?? 0) < (baseRevision ?? 0);
  const isKnown = !isOlder && isStoredText(state, html);
  // The earlier page's requests with other texts may still be in flight: only a later read shows which text was stored.
  if (isReadable && isKnown && sent.every((text) => text === html)) {
    step.effects.push({ type: 'dropDraft' });
    return;
  }
  putText(step, html);
  updateState(step, {
    isUnsaved: true,
    saveDueAt: step.now,
    // Includes the draft's own text: a page that closes stores the draft and then sends the text, so the server may
    // have it.
    unacknowledged: isKnown ? sent : [...new Set([...sent, html])],
    draftBasis: { base, baseId, baseRevision },
    newRowId: baseRevision === null ? (baseId ?? null) : null,
    hold: isReadable ? null : { kind: 'locked' },
  });
  // If the day no longer has the draft's row, only the next attempt's read by the row's id tells whether the log was
  // moved.
  if (isReadable && !isOlder && (baseId === undefined || state.stored?.id === baseId)) reconcile(step, state.stored);
}
