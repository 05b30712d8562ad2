/**
 * Moves a log to another day: what is unsaved is sent first, then one request changes the row's date. That request names
 * the row, its day and its revision, so it can neither lose the log nor put it at two days, and may be sent again.
 */
import type { Day } from '#domain/day/day.ts';
import type { Version } from '#domain/log/entry.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';
import type { DaySavers } from '../day-savers.ts';
import { sendAs, storedLog } from './entry-transport.ts';
import type { StoredLog } from '../save-outcome.ts';

export type MoveOutcome =
  | { kind: 'moved'; log: StoredLog }
  /** Words of the log are on this device alone. */
  | { kind: 'unsaved' }
  /** The day has no log to move. */
  | { kind: 'empty' }
  /** The other day has a log, or words that are not sent yet. */
  | { kind: 'taken' }
  /** Somewhere else the log was changed, moved or removed. */
  | { kind: 'changed' }
  /** The plan does not open one of the two days. */
  | { kind: 'closed' }
  | { kind: 'signedOut' }
  /** No answer: whether the log was moved is not known. Asking again about this version finds out. */
  | { kind: 'unreachable'; version: Version };

export type Move = { from: Day; to: Day };
export type SendMove = (move: Move, version: Version) => Promise<MoveOutcome>;

const COLUMNS = 'content, id, revision, updated_at';
const DUPLICATE_KEY = '23505';

/** A lost answer is asked for once more by itself. */
const SENDS = 2;

function failure({ status, error }: { status: number; error: { code: string } }, version: Version): MoveOutcome {
  if (error.code === DUPLICATE_KEY) return { kind: 'taken' };
  if (status === 401) return { kind: 'signedOut' };
  return status === 403 ? { kind: 'closed' } : { kind: 'unreachable', version };
}

export function createSendMove(data: DataClient, userId: string): SendMove {
  const entries = () => data.from('entries', { fetch: sendAs(userId) });

  return async function send({ from, to }, version) {
    const { id, revision } = version;
    const answer = await entries()
      .update({ date: to })
      .match({ user_id: userId, id })
      // The second one is the row after this very move: sent again, the request changes nothing and answers the same.
      .or(`and(date.eq.${from},revision.eq.${revision}),and(date.eq.${to},revision.eq.${revision + 1})`)
      .select(COLUMNS);
    if (answer.error) return failure(answer, version);
    if (answer.data[0]) return { kind: 'moved', log: storedLog(answer.data[0]) };
    // Moved by a request whose answer was lost, and written on since: that is no reason to say that it was not moved.
    const there = await entries().select(COLUMNS).match({ user_id: userId, id, date: to }).retry(false);
    if (there.error) return failure(there, version);
    return there.data[0] ? { kind: 'moved', log: storedLog(there.data[0]) } : { kind: 'changed' };
  };
}

/** `again`: the version of a move that was not answered. The page may have found its day empty since. */
export async function moveLog(
  savers: DaySavers,
  send: SendMove,
  { from, to }: Move,
  again: Version | null = null,
): Promise<MoveOutcome> {
  const saver = savers.opened(from);
  if (saver && !(await saver.flush())) return { kind: 'unsaved' };
  const version = again ?? saver?.view().stored;
  if (!version) return { kind: 'empty' };
  if (savers.withUnsaved(to)) return { kind: 'taken' };
  let outcome = await send({ from, to }, version);
  for (let sends = 1; sends < SENDS && outcome.kind === 'unreachable'; sends += 1) {
    outcome = await send({ from, to }, version);
  }
  if (outcome.kind === 'moved') savers.moved(from, to, outcome.log);
  return outcome;
}
