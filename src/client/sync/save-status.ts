/** The state of a day's saving, in words. */
import { MONTHS, dayOf } from '#domain/day/day.ts';

export type SaveStatus =
  | { kind: 'empty' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'saved'; at: number }
  | { kind: 'retrying' }
  | { kind: 'offline' }
  | { kind: 'signedOut' }
  | { kind: 'conflict' }
  | { kind: 'locked' }
  | { kind: 'refused'; reason: string };

/** `14:02`, or `Nov 20, 14:02` when that was not today. */
function moment(at: number, now: number): string {
  const then = new Date(at);
  const clock = `${String(then.getHours()).padStart(2, '0')}:${String(then.getMinutes()).padStart(2, '0')}`;
  return dayOf(then) === dayOf(new Date(now))
    ? clock
    : `${MONTHS[then.getMonth()]!.slice(0, 3)} ${then.getDate()}, ${clock}`;
}

/** What the line under the log says. `now` in milliseconds. */
export function statusText(status: SaveStatus, now: number): string {
  switch (status.kind) {
    case 'empty':
      return 'Nothing written yet';
    case 'unsaved':
      return 'Writing...';
    case 'saving':
      return 'Saving...';
    case 'saved':
      return `Saved ${moment(status.at, now)}`;
    case 'retrying':
      return 'Not saved – retrying';
    case 'offline':
      return 'On this device only – sending when online';
    case 'signedOut':
      return 'Not saved – sign in and it will be';
    case 'conflict':
      return 'Not saved – changed elsewhere';
    case 'locked':
      return 'Not saved – your plan does not open this day';
    case 'refused':
      return `Not saved – ${status.reason}`;
  }
}

/** Worth interrupting a screen reader for: a pause in typing is not. */
export const isAnnounced = (status: SaveStatus): boolean => !['empty', 'unsaved', 'saving'].includes(status.kind);

/** Something the reader should see in colour: words are on this device alone. */
export const isAlarming = (status: SaveStatus): boolean => isAnnounced(status) && status.kind !== 'saved';
