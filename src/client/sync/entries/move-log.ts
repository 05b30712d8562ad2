/**
 * Moves a log to another day: sends unsaved text first, then changes the row's date by one request. That request names
 * the row, its day and its revision, so it is idempotent and can neither lose nor duplicate the log.
 */
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import type { DaySaver } from '../day-saver/day-saver.ts';
import type { DaySavers } from '../day-savers.ts';
import { toStoredLog } from '#client/lib/api/log-row.ts';
import { DUPLICATE_KEY, createEntryFetch } from './entry-transport.ts';
import type { EntryTransport, StoredLog } from '../save-requests.ts';

export type MoveOutcome =
  | { kind: 'moved'; log: StoredLog }
  /** The log has unsaved text that could not be saved before the move. */
  | { kind: 'unsaved' }
  /** The day has no log to move. */
  | { kind: 'empty' }
  /** The other day has a log or unsent text. */
  | { kind: 'taken' }
  /** Another page changed, moved or removed the log. */
  | { kind: 'changed' }
  /**
   * The server refuses `to`: the plan locks that day, or it is in the future. With a locked `from`, the kind is
   * `changed`.
   */
  | { kind: 'closed' }
  | { kind: 'signedOut' }
  /** No usable answer: the log may have been moved. A retry with this version finds out. */
  | { kind: 'unreachable'; version: Version };

export type Move = { from: Day; to: Day };
export type SendMove = (move: Move, version: Version) => Promise<MoveOutcome>;

const COLUMNS = 'content, id, revision, updated_at';

/** A request without an answer is retried once. */
const MAX_SENDS = 2;

function failure({ status, error }: { status: number; error: { code: string } }, version: Version): MoveOutcome {
  if (error.code === DUPLICATE_KEY) return { kind: 'taken' };
  if (status === 401) return { kind: 'signedOut' };
  // A proxy sends a 403 without a code.
  return status === 403 && error.code ? { kind: 'closed' } : { kind: 'unreachable', version };
}

export function createSendMove(data: DataClient, userId: string): SendMove {
  const entries = () => data.from('entries', { fetch: createEntryFetch(userId) });

  return async function send({ from, to }, version) {
    const { id, revision } = version;
    const answer = await entries()
      .update({ date: to })
      .match({ user_id: userId, id })
      // The second condition matches the row after this move, so a repeated request is a no-op with the same response.
      .or(`and(date.eq.${from},revision.eq.${revision}),and(date.eq.${to},revision.eq.${revision + 1})`)
      .select(COLUMNS);
    if (answer.error) return failure(answer, version);
    if (answer.data[0]) return { kind: 'moved', log: toStoredLog(answer.data[0]) };
    // No row matched. An earlier request without an answer may have moved the row, and an edit raised its revision
    // since: a row with this id on the target day counts as moved.
    const atTarget = await entries().select(COLUMNS).match({ user_id: userId, id, date: to });
    if (atTarget.error) return failure(atTarget, version);
    return atTarget.data[0] ? { kind: 'moved', log: toStoredLog(atTarget.data[0]) } : { kind: 'changed' };
  };
}

/**
 * `retriedVersion` is the version of an earlier move without an answer. The saver may no longer have this version: if
 * that move succeeded, the day may have been read as empty since.
 */
export async function moveLog(
  savers: DaySavers,
  send: SendMove,
  { from, to }: Move,
  retriedVersion: Version | null = null,
): Promise<MoveOutcome> {
  const saver = savers.get(from);
  if (saver && !(await saver.flush())) return { kind: 'unsaved' };
  const version = retriedVersion ?? saver?.view().stored;
  if (!version) return { kind: 'empty' };
  if (savers.getUnsaved(to)) return { kind: 'taken' };
  let outcome = await send({ from, to }, version);
  for (let sends = 1; sends < MAX_SENDS && outcome.kind === 'unreachable'; sends += 1) {
    outcome = await send({ from, to }, version);
  }
  if (outcome.kind === 'moved') applyMove(savers, from, to, outcome.log);
  return outcome;
}

/**
 * Applies a move to the savers of both days, except one with unsaved text or a new log. A changed saver ignores rows
 * that were requested before.
 */
function applyMove(savers: DaySavers, from: Day, to: Day, log: StoredLog): void {
  for (const [date, stored] of [
    [from, null],
    [to, log],
  ] as const) {
    const saver = savers.get(date) ?? savers.open(date, stored, 0);
    const { unsaved, stored: shown } = saver.view();
    // After a move without an answer, the user may have begun a new log on the old day.
    const isNewLog = date === from && shown !== null && shown.id !== log.id;
    if (!unsaved && !isNewLog) saver.replaceWith(stored);
  }
}

/**
 * Merges a day's unsaved text into the day that its log was moved to. False if the log did not move, if that day or the
 * merge cannot be loaded, if the merged text could be neither stored in a draft nor sent, or if the user has chosen or
 * written something else meanwhile.
 */
export async function addToMovedLog(
  savers: DaySavers,
  transport: Pick<EntryTransport, 'read'>,
  saver: DaySaver,
): Promise<boolean> {
  const findMoved = () => saver.view().conflict?.moved;
  const moved = findMoved();
  if (!moved) return false;
  const readAt = Date.now();
  const [outcome, mergeLogs] = await Promise.all([transport.read(moved.date), savers.loadMerge()]);
  // The user may have chosen meanwhile, by a second click or another button.
  if (outcome.kind !== 'read' || !mergeLogs || findMoved()?.date !== moved.date) return false;
  const target = savers.open(moved.date, outcome.stored, readAt);
  const added = saver.text();
  target.rewrite((text) => saver.mergeWith(mergeLogs, text), 0);
  // `takeTheirs` drops the draft of the old day, so the target's text must be in a draft or on the server before.
  if (!target.storeDraft() && !(await target.flush())) return false;
  // Words written during the flush are not in the target yet: another click adds them.
  if (saver.text() !== added) return false;
  saver.takeTheirs();
  return true;
}
